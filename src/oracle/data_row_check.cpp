#include "data_row_check.h"

#include "fuselage/core/error.h"

namespace fuselage::oracle {
namespace {

const std::string& last_content(const JsonField& messages) {
  if (messages.array_size() == 0) messages.refuse("is empty", "messages");
  const Json& last = messages.value().back();
  if (!last.is_object() || !last.contains("content") || !last.at("content").is_string())
    messages.refuse("has no content at its end", "messages with role and content");
  return last.at("content").get_ref<const std::string&>();
}

}  // namespace

const std::string& prompt_of(const JsonField& row, RowFormat format) {
  if (format == RowFormat::raw) return row.required("observation").string();
  if (format == RowFormat::sft) {
    const JsonField messages = row.required("messages");
    if (messages.array_size() < 2) messages.refuse("has less than two messages", "a question and an answer");
    const Json& user = messages.value().at(messages.array_size() - 2);
    if (!user.is_object() || !user.contains("content") || !user.at("content").is_string())
      messages.refuse("has no question", "messages with role and content");
    return user.at("content").get_ref<const std::string&>();
  }
  const JsonField prompt = row.required("prompt");
  return prompt.value().is_string() ? prompt.string() : last_content(prompt);
}

const std::string& answer_of(const JsonField& row, std::string_view key) {
  const JsonField answer = row.required(key);
  return answer.value().is_string() ? answer.string() : last_content(answer);
}

std::vector<std::string> texts_of(const JsonField& field) {
  const std::string source = field.source() + ": " + field.path();
  const Json list = parse_json(field.string(), source);
  const JsonField texts(list, source);
  std::vector<std::string> read;
  for (std::size_t i = 0; i < texts.array_size(); ++i) read.push_back(texts.element(i).string());
  return read;
}

}  // namespace fuselage::oracle
