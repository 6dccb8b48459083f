#include "fuselage/learn/rollout.h"

#include <cassert>

namespace fuselage::learn {

template <class T>
void roll(const Transition<T>& transition, const Parameters<T>& parameters, const Rollout<T>& rollout,
          RolloutPass<T>& pass) {
  const Packing& packing = *rollout.packing;
  const Index tokens = packing.tokens();
  View<T> before = rollout.before;
  View<T> after = rollout.after;
  assert(rollout.actions.cols() == tokens && before.cols() == tokens && after.cols() == tokens);
  View<T> projected = pass.projected.shape(transition.projected_rows(), tokens);
  View<T> saved = pass.saved.shape(transition.saved_rows(), tokens);
  transition.project(parameters, rollout.actions, projected);
  for (Index step = 0; step < packing.steps(); ++step) {
    const Index first = packing.first(step);
    const Index width = packing.width(step);
    if (step == 0)
      for (Index slot = 0; slot < width; ++slot) before.col(slot) = rollout.start.col(packing.sequence(slot));
    else
      before.middleCols(first, width) = after.middleCols(packing.first(step - 1), width);
    transition.step(parameters, before.middleCols(first, width), projected.middleCols(first, width),
                    after.middleCols(first, width), saved.middleCols(first, width));
  }
}

template <class T>
void roll_backward(const Transition<T>& transition, Parameters<T>& parameters, const Rollout<T>& rollout,
                   const RolloutGradients<T>& gradients, RolloutPass<T>& pass) {
  const Packing& packing = *rollout.packing;
  View<T> d_before = gradients.before;
  View<T> d_after = gradients.after;
  View<T> d_start = gradients.start;
  View<T> d_projected = pass.d_projected.shape(transition.projected_rows(), packing.tokens());
  d_start.setZero();
  for (Index step = packing.steps(); step-- > 0;) {
    const Index first = packing.first(step);
    const Index width = packing.width(step);
    View<T> d_z = pass.d_latent.shape(transition.latent(), width);
    transition.step_backward(parameters, {.z = rollout.before.middleCols(first, width),
                                          .projected = pass.projected.view().middleCols(first, width),
                                          .saved = pass.saved.view().middleCols(first, width),
                                          .d_next = d_after.middleCols(first, width),
                                          .d_z = d_z,
                                          .d_projected = d_projected.middleCols(first, width)});
    d_z += d_before.middleCols(first, width);
    if (step == 0)
      for (Index slot = 0; slot < width; ++slot) d_start.col(packing.sequence(slot)) = d_z.col(slot);
    else
      d_after.middleCols(packing.first(step - 1), width) += d_z;
  }
  transition.project_backward(parameters, rollout.actions, d_projected, gradients.actions);
}

template <class T>
void take_last(const Rollout<T>& rollout, View<T> out) {
  const Packing& packing = *rollout.packing;
  for (Index i = 0; i < packing.sequences(); ++i) {
    if (packing.length(i) == 0)
      out.col(i) = rollout.start.col(i);
    else
      out.col(i) = rollout.after.col(packing.column(i, packing.length(i) - 1));
  }
}

template void roll<float>(const Transition<float>&, const Parameters<float>&, const Rollout<float>&,
                          RolloutPass<float>&);
template void roll<double>(const Transition<double>&, const Parameters<double>&, const Rollout<double>&,
                           RolloutPass<double>&);
template void roll_backward<float>(const Transition<float>&, Parameters<float>&, const Rollout<float>&,
                                   const RolloutGradients<float>&, RolloutPass<float>&);
template void roll_backward<double>(const Transition<double>&, Parameters<double>&, const Rollout<double>&,
                                    const RolloutGradients<double>&, RolloutPass<double>&);
template void take_last<float>(const Rollout<float>&, View<float>);
template void take_last<double>(const Rollout<double>&, View<double>);

}  // namespace fuselage::learn
