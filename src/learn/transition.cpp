#include "fuselage/learn/transition.h"

#include <cassert>

#include "transitions.h"

namespace fuselage::learn {

std::string_view transition_name(TransitionKind kind) {
  switch (kind) {
    case TransitionKind::transh:
      return "transh";
    case TransitionKind::residual:
      return "residual";
    case TransitionKind::gru:
      return "gru";
    case TransitionKind::still:
      return "still";
  }
  assert(false);
  return "";
}

template <class T>
std::unique_ptr<Transition<T>> make_transition(Parameters<T>& parameters, const std::string& name,
                                               const TransitionShape& shape, search::SplitMix& random) {
  switch (shape.kind) {
    case TransitionKind::transh:
      return make_transh(parameters, name, shape, random);
    case TransitionKind::residual:
      return make_residual(parameters, name, shape, random);
    case TransitionKind::gru:
      return make_gru(parameters, name, shape, random);
    case TransitionKind::still:
      return make_still<T>(shape);
  }
  assert(false);
  return nullptr;
}

template std::unique_ptr<Transition<float>> make_transition(Parameters<float>&, const std::string&,
                                                            const TransitionShape&, search::SplitMix&);
template std::unique_ptr<Transition<double>> make_transition(Parameters<double>&, const std::string&,
                                                             const TransitionShape&, search::SplitMix&);

}  // namespace fuselage::learn
