// saved: r, u, the candidate's hidden part h = U_n z + c, the candidate n; d rows each. projected: P a + b
// for r, u, n.
#include "fuselage/learn/activation.h"
#include "fuselage/learn/linear.h"
#include "transitions.h"

namespace fuselage::learn {
namespace {

// One sample; all arrays of d numbers behind each other.
template <class T>
void gate_forward(Index d, const T* __restrict z, const T* __restrict projected, T* __restrict next,
                  T* __restrict saved) {
  for (Index i = 0; i < d; ++i) {
    const T r = sigmoid(projected[i] + saved[i]);
    const T u = sigmoid(projected[d + i] + saved[d + i]);
    const T n = hyperbolic_tangent(projected[2 * d + i] + r * saved[2 * d + i]);
    saved[i] = r;
    saved[d + i] = u;
    saved[3 * d + i] = n;
    next[i] = n + u * (z[i] - n);
  }
}

// Fills d_projected, the part of d_z that doesn't pass through U, and in place of r, u, h in saved the
// gradients with respect to U z.
template <class T>
void gate_backward(Index d, const T* __restrict z, const T* __restrict d_next, T* __restrict saved,
                   T* __restrict d_z, T* __restrict d_projected) {
  for (Index i = 0; i < d; ++i) {
    const T r = saved[i];
    const T u = saved[d + i];
    const T h = saved[2 * d + i];
    const T n = saved[3 * d + i];
    const T d_n = d_next[i] * (T{1} - u) * (T{1} - n * n);
    const T d_u = d_next[i] * (z[i] - n) * u * (T{1} - u);
    const T d_r = d_n * h * r * (T{1} - r);
    d_z[i] = d_next[i] * u;
    saved[i] = d_projected[i] = d_r;
    saved[d + i] = d_projected[d + i] = d_u;
    saved[2 * d + i] = d_n * r;
    d_projected[2 * d + i] = d_n;
  }
}

template <class T>
class Gru final : public Transition<T> {
 public:
  Gru(Parameters<T>& parameters, const std::string& name, const TransitionShape& shape,
      search::SplitMix& random)
      : d_(shape.latent),
        input_(parameters, name + ".input", shape.action, 3 * d_, random),
        recurrent_(parameters.add(name + ".recurrent.weight", 3 * d_, d_)),
        bias_(parameters.add(name + ".recurrent.bias", d_, 1)) {
    for (Index gate = 0; gate < 3; ++gate)
      fill_glorot<T>(parameters.value(recurrent_).middleRows(gate * d_, d_), random);
  }

  Index latent() const override { return d_; }
  Index action() const override { return input_.in(); }
  Index projected_rows() const override { return 3 * d_; }
  Index saved_rows() const override { return 4 * d_; }

  void project(const Parameters<T>& parameters, const ConstView<T>& actions,
               View<T> projected) const override {
    input_.forward(parameters, actions, projected);
  }

  void step(const Parameters<T>& parameters, const ConstView<T>& z, const ConstView<T>& projected,
            View<T> next, View<T> saved) const override {
    multiply<T>(saved.topRows(3 * d_), parameters.value(recurrent_), z);
    saved.middleRows(2 * d_, d_).colwise() += parameters.value(bias_).col(0);
    for (Index column = 0; column < z.cols(); ++column)
      gate_forward(d_, z.col(column).data(), projected.col(column).data(), next.col(column).data(),
                   saved.col(column).data());
  }

  void step_backward(Parameters<T>& parameters, const StepBackward<T>& batch) const override {
    View<T> saved = batch.saved;
    View<T> d_z = batch.d_z;
    View<T> d_projected = batch.d_projected;
    for (Index column = 0; column < saved.cols(); ++column)
      gate_backward(d_, batch.z.col(column).data(), batch.d_next.col(column).data(), saved.col(column).data(),
                    d_z.col(column).data(), d_projected.col(column).data());
    const View<T> d_recurrent = saved.topRows(3 * d_);
    add_transposed<T>(d_z, parameters.value(recurrent_), d_recurrent);
    add_outer<T>(parameters.gradient(recurrent_), d_recurrent, batch.z);
    add_columns<T>(parameters.gradient(bias_), saved.middleRows(2 * d_, d_));
  }

  void project_backward(Parameters<T>& parameters, const ConstView<T>& actions,
                        const ConstView<T>& d_projected, View<T> d_actions) const override {
    input_.backward(parameters, actions, d_projected);
    input_.backward_input(parameters, d_projected, d_actions);
  }

 private:
  Index d_;
  Linear<T> input_;
  Slice recurrent_;  // U of r, u, n [3d x d]
  Slice bias_;       // c [d x 1]
};

}  // namespace

template <class T>
std::unique_ptr<Transition<T>> make_gru(Parameters<T>& parameters, const std::string& name,
                                        const TransitionShape& shape, search::SplitMix& random) {
  return std::make_unique<Gru<T>>(parameters, name, shape, random);
}

template std::unique_ptr<Transition<float>> make_gru(Parameters<float>&, const std::string&,
                                                     const TransitionShape&, search::SplitMix&);
template std::unique_ptr<Transition<double>> make_gru(Parameters<double>&, const std::string&,
                                                      const TransitionShape&, search::SplitMix&);

}  // namespace fuselage::learn
