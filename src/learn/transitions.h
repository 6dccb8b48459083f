// The kinds of transition, one file each; make_transition chooses.
#pragma once

#include "fuselage/learn/transition.h"

namespace fuselage::learn {

template <class T>
std::unique_ptr<Transition<T>> make_transh(Parameters<T>& parameters, const std::string& name,
                                           const TransitionShape& shape, search::SplitMix& random);
template <class T>
std::unique_ptr<Transition<T>> make_residual(Parameters<T>& parameters, const std::string& name,
                                             const TransitionShape& shape, search::SplitMix& random);
template <class T>
std::unique_ptr<Transition<T>> make_gru(Parameters<T>& parameters, const std::string& name,
                                        const TransitionShape& shape, search::SplitMix& random);
template <class T>
std::unique_ptr<Transition<T>> make_still(const TransitionShape& shape);

}  // namespace fuselage::learn
