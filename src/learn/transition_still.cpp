#include "transitions.h"

namespace fuselage::learn {
namespace {

template <class T>
class Still final : public Transition<T> {
 public:
  Still(Index latent, Index action) : latent_(latent), action_(action) {}

  Index latent() const override { return latent_; }
  Index action() const override { return action_; }
  Index projected_rows() const override { return 0; }
  Index saved_rows() const override { return 0; }

  void project(const Parameters<T>&, const ConstView<T>&, View<T>) const override {}
  void step(const Parameters<T>&, const ConstView<T>& z, const ConstView<T>&, View<T> next,
            View<T>) const override {
    next = z;
  }
  void step_backward(Parameters<T>&, const StepBackward<T>& batch) const override {
    View<T> d_z = batch.d_z;
    d_z = batch.d_next;
  }
  void project_backward(Parameters<T>&, const ConstView<T>&, const ConstView<T>&,
                        View<T> d_actions) const override {
    d_actions.setZero();
  }

 private:
  Index latent_;
  Index action_;
};

}  // namespace

template <class T>
std::unique_ptr<Transition<T>> make_still(const TransitionShape& shape) {
  return std::make_unique<Still<T>>(shape.latent, shape.action);
}

template std::unique_ptr<Transition<float>> make_still(const TransitionShape&);
template std::unique_ptr<Transition<double>> make_still(const TransitionShape&);

}  // namespace fuselage::learn
