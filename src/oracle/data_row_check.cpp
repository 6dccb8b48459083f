#include "data_row_check.h"

#include <fmt/format.h>

#include <array>

#include "fuselage/core/error.h"

namespace fuselage::oracle {
namespace {

const std::string& content_of(const JsonField& messages, std::size_t index, std::string_view role) {
  if (index >= messages.array_size())
    messages.refuse(fmt::format("has {} messages", messages.array_size()),
                    fmt::format("one of the {}", role));
  const JsonField message = messages.element(index);
  const JsonField said = message.required("role");
  if (said.string() != role) said.refuse("speaks", quote(role));
  constexpr std::array<std::string_view, 2> keys = {"role", "content"};
  message.only(keys);
  return message.required("content").string();
}

std::string_view question(const JsonField& messages, std::string_view system, bool answered) {
  std::size_t at = 0;
  if (!system.empty() && content_of(messages, at++, "system") != system)
    messages.refuse("does not begin with the data set's instructions", quote(system));
  const std::string& asked = content_of(messages, at++, "user");
  if (answered) content_of(messages, at++, "assistant");
  if (messages.array_size() != at)
    messages.refuse(fmt::format("has {} messages", messages.array_size()), fmt::format("{}", at));
  return asked;
}

}  // namespace

std::string_view observation_of(const JsonField& row, RowFormat format, std::string_view system) {
  if (format == RowFormat::raw) return row.required("observation").string();
  if (format == RowFormat::sft) return question(row.required("messages"), system, true);
  const JsonField prompt = row.required("prompt");
  if (!prompt.value().is_string()) return question(prompt, system, false);
  const std::string before = system.empty() ? std::string() : std::string(system) + "\n\n";
  if (!prompt.string().starts_with(before))
    prompt.refuse("does not begin with the data set's instructions", quote(system));
  return std::string_view(prompt.string()).substr(before.size());
}

const std::string& answer_of(const JsonField& row, std::string_view key) {
  const JsonField answer = row.required(key);
  if (answer.value().is_string()) return answer.string();
  if (answer.array_size() != 1) answer.refuse("is not one message", "the assistant's");
  return content_of(answer, 0, "assistant");
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
