#include "guide_options.h"

#include <CLI/CLI.hpp>

#include "fuselage/core/error.h"
#include "options.h"

namespace fuselage::cli {
namespace {

constexpr std::int64_t furthest = 3;  // lookahead: each kernel more costs `keep` times as much

}  // namespace

void add_guide_options(CLI::App& app, GuideOptions& options) {
  add_text(app,
           {"--guide", "DIR",
            "a bundle of learned models, such as models/default: it chooses the\n"
            "kernels that auto, beam and mcts price; what is proven never rests on it"},
           [&options](const std::string& text) {
             if (text.empty()) fail("--guide: is empty; expected the directory of a bundle");
             options.bundle = text;
           });
  add_integer(app,
              {"--keep", "N",
               "guide: kernels of a state that are priced, at most; default 4,\n"
               "of grid problems 8, where auto goes on with more"},
              {.min = 1, .max = 1'000'000}, options.keep);
  add_number(app,
             {"--margin", "SCORE",
              "guide: and none whose score is so much below the best; default 2,\n"
              "of grid problems 4"},
             {.min = 0, .max = 1e6}, options.margin);
  add_form(app,
           {"--rank-by", "WHAT",
            "guide of walk graphs: states of a layer by the proven bound (default) or by\n"
            "what the model says the rest will cost"},
           [&options](const std::string& text) {
             if (text != "bound" && text != "model")
               fail("--rank-by: {} is unknown; expected bound or model", quote(text));
             options.rank_by = text;
           });
  add_integer(app,
              {"--lookahead", "N",
               "guide of walk graphs: kernels that the model rolls on in its head;\n"
               "takes --rank-by model; default 0"},
              {.min = 0, .max = furthest}, options.lookahead);
}

std::shared_ptr<const oracle::Bundle> read_guide(const GuideOptions& options) {
  if (options.bundle.empty()) {
    if (options.keep || options.margin || options.lookahead || !options.rank_by.empty())
      fail("--keep, --margin, --rank-by and --lookahead are about a guide; expected --guide DIR with them");
    return nullptr;
  }
  if (options.lookahead.value_or(0) > 0 && options.rank_by != "model")
    fail("--lookahead: {} without the model's word; expected --rank-by model with it", *options.lookahead);
  return std::make_shared<const oracle::Bundle>(oracle::read_bundle(options.bundle));
}

oracle::Keeping keeping_of(const GuideOptions& options, oracle::Keeping usual) {
  if (options.keep) usual.most = static_cast<std::size_t>(*options.keep);
  if (options.margin) usual.margin = static_cast<float>(*options.margin);
  return usual;
}

oracle::WalkGuideOptions walk_guide_options(const GuideOptions& options) {
  oracle::WalkGuideOptions guide;
  guide.keeping = keeping_of(options, guide.keeping);
  guide.value = options.rank_by == "model";
  guide.lookahead = static_cast<int>(options.lookahead.value_or(0));
  return guide;
}

}  // namespace fuselage::cli
