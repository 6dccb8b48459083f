// projected: w, r. saved: ŵ, then |w| and ŵᵀz.
#include <cmath>

#include "fuselage/learn/linear.h"
#include "transitions.h"

namespace fuselage::learn {
namespace {

// |w|² is taken this much larger, so that no hyperplane is the zero vector's.
constexpr double least_square = 1e-12;

template <class T>
void translate(Index d, const T* __restrict z, const T* __restrict projected, T* __restrict next,
               T* __restrict saved) {
  const T length = std::sqrt(dot(projected, projected, d) + static_cast<T>(least_square));
  const T inverse = T{1} / length;
  for (Index i = 0; i < d; ++i) saved[i] = projected[i] * inverse;
  const T along = dot<T>(saved, z, d);
  for (Index i = 0; i < d; ++i) next[i] = z[i] - along * saved[i] + projected[d + i];
  saved[d] = length;
  saved[d + 1] = along;
}

// With g = d_next and α = ŵᵀg: d_z = g − α ŵ, d_r = g, and ŵ gets −(ŵᵀz) g − α z, of which w gets what is
// orthogonal to ŵ, divided by |w|.
template <class T>
void translate_backward(Index d, const T* __restrict z, const T* __restrict g, const T* __restrict saved,
                        T* __restrict d_z, T* __restrict d_projected) {
  const T inverse = T{1} / saved[d];
  const T along = saved[d + 1];
  const T alpha = dot(saved, g, d);
  for (Index i = 0; i < d; ++i) {
    d_z[i] = g[i] - alpha * saved[i];
    d_projected[i] = -along * g[i] - alpha * z[i];
    d_projected[d + i] = g[i];
  }
  const T parallel = dot<T>(saved, d_projected, d);
  for (Index i = 0; i < d; ++i) d_projected[i] = (d_projected[i] - parallel * saved[i]) * inverse;
}

template <class T>
class TransH final : public Transition<T> {
 public:
  TransH(Parameters<T>& parameters, const std::string& name, const TransitionShape& shape,
         search::SplitMix& random)
      : d_(shape.latent), input_(parameters, name + ".input", shape.action, 2 * d_, random) {}

  Index latent() const override { return d_; }
  Index action() const override { return input_.in(); }
  Index projected_rows() const override { return 2 * d_; }
  Index saved_rows() const override { return d_ + 2; }

  void project(const Parameters<T>& parameters, const ConstView<T>& actions,
               View<T> projected) const override {
    input_.forward(parameters, actions, projected);
  }

  void step(const Parameters<T>&, const ConstView<T>& z, const ConstView<T>& projected, View<T> next,
            View<T> saved) const override {
    for (Index column = 0; column < z.cols(); ++column)
      translate(d_, z.col(column).data(), projected.col(column).data(), next.col(column).data(),
                saved.col(column).data());
  }

  void step_backward(Parameters<T>&, const StepBackward<T>& batch) const override {
    View<T> d_z = batch.d_z;
    View<T> d_projected = batch.d_projected;
    for (Index column = 0; column < d_z.cols(); ++column)
      translate_backward(d_, batch.z.col(column).data(), batch.d_next.col(column).data(),
                         batch.saved.col(column).data(), d_z.col(column).data(),
                         d_projected.col(column).data());
  }

  void project_backward(Parameters<T>& parameters, const ConstView<T>& actions,
                        const ConstView<T>& d_projected, View<T> d_actions) const override {
    input_.backward(parameters, actions, d_projected);
    input_.backward_input(parameters, d_projected, d_actions);
  }

 private:
  Index d_;
  Linear<T> input_;
};

}  // namespace

template <class T>
std::unique_ptr<Transition<T>> make_transh(Parameters<T>& parameters, const std::string& name,
                                           const TransitionShape& shape, search::SplitMix& random) {
  return std::make_unique<TransH<T>>(parameters, name, shape, random);
}

template std::unique_ptr<Transition<float>> make_transh(Parameters<float>&, const std::string&,
                                                        const TransitionShape&, search::SplitMix&);
template std::unique_ptr<Transition<double>> make_transh(Parameters<double>&, const std::string&,
                                                         const TransitionShape&, search::SplitMix&);

}  // namespace fuselage::learn
