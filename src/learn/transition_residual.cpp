// saved: the hidden layer after relu.
#include "fuselage/learn/activation.h"
#include "fuselage/learn/linear.h"
#include "transitions.h"

namespace fuselage::learn {
namespace {

template <class T>
class Residual final : public Transition<T> {
 public:
  Residual(Parameters<T>& parameters, const std::string& name, const TransitionShape& shape,
           search::SplitMix& random)
      : input_(parameters, name + ".input", shape.action, shape.hidden, random),
        recurrent_(parameters.add(name + ".recurrent.weight", shape.hidden, shape.latent)),
        output_(parameters, name + ".output", shape.hidden, shape.latent, random) {
    fill_glorot<T>(parameters.value(recurrent_), random);
  }

  Index latent() const override { return output_.out(); }
  Index action() const override { return input_.in(); }
  Index projected_rows() const override { return input_.out(); }
  Index saved_rows() const override { return input_.out(); }

  void project(const Parameters<T>& parameters, const ConstView<T>& actions,
               View<T> projected) const override {
    input_.forward(parameters, actions, projected);
  }

  void step(const Parameters<T>& parameters, const ConstView<T>& z, const ConstView<T>& projected,
            View<T> next, View<T> saved) const override {
    multiply<T>(saved, parameters.value(recurrent_), z);
    saved += projected;
    activate<T>(Activation::relu, saved);
    output_.forward(parameters, saved, next);
    next += z;
  }

  void step_backward(Parameters<T>& parameters, const StepBackward<T>& batch) const override {
    View<T> d_z = batch.d_z;
    View<T> d_hidden = batch.d_projected;
    output_.backward(parameters, batch.saved, batch.d_next);
    output_.backward_input(parameters, batch.d_next, d_hidden);
    activate_backward<T>(Activation::relu, batch.saved, d_hidden);
    add_outer<T>(parameters.gradient(recurrent_), d_hidden, batch.z);
    d_z = batch.d_next;
    add_transposed<T>(d_z, parameters.value(recurrent_), d_hidden);
  }

  void project_backward(Parameters<T>& parameters, const ConstView<T>& actions,
                        const ConstView<T>& d_projected, View<T> d_actions) const override {
    input_.backward(parameters, actions, d_projected);
    input_.backward_input(parameters, d_projected, d_actions);
  }

 private:
  Linear<T> input_;   // P, b
  Slice recurrent_;   // U [hidden x d]
  Linear<T> output_;  // V, c
};

}  // namespace

template <class T>
std::unique_ptr<Transition<T>> make_residual(Parameters<T>& parameters, const std::string& name,
                                             const TransitionShape& shape, search::SplitMix& random) {
  return std::make_unique<Residual<T>>(parameters, name, shape, random);
}

template std::unique_ptr<Transition<float>> make_residual(Parameters<float>&, const std::string&,
                                                          const TransitionShape&, search::SplitMix&);
template std::unique_ptr<Transition<double>> make_residual(Parameters<double>&, const std::string&,
                                                           const TransitionShape&, search::SplitMix&);

}  // namespace fuselage::learn
