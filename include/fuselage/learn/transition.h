// How a latent vector changes when something is done: z' = f(z, a), the model's stand-in for executing a
// kernel. Four of them behind one interface, to be compared:
//
// - transh: what TransH does for relations of a knowledge graph (Wang, Zhang, Feng, Chen, "Knowledge graph
//   embedding by translating on hyperplanes", 2014). The action gives a hyperplane w and a translation r:
//   z' = z − (ŵᵀz) ŵ + r with ŵ = w / |w|, [w; r] = P a + b. By far the cheapest.
// - residual: z' = z + V relu(U z + P a + b) + c.
// - gru: the gated recurrent unit (Cho et al., "Learning phrase representations using RNN encoder–decoder",
// 2014),
//   in the form whose reset gate acts after the product: r = σ(P_r a + U_r z), u = σ(P_u a + U_u z),
//   n = tanh(P_n a + r ∘ (U_n z + c)), z' = (1 − u) ∘ n + u ∘ z; each P with a bias.
// - still: z' = z, which remembers nothing: a baseline, and no parameters.
//
// A step is split in two. What an action means whatever the latent is `projected` for all tokens in one
// product; only the rest is done step by step. All batches have a column for a sample: d rows for latents, e
// for actions.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "fuselage/learn/parameters.h"

namespace fuselage::learn {

// Of one batch of n, the shapes as in Transition::step.
template <class T>
struct StepBackward {
  ConstView<T> z;
  ConstView<T> projected;
  View<T> saved;        // what step left; overwritten
  ConstView<T> d_next;  // gradient with respect to z' [d x n]
  View<T> d_z;          // result [d x n]
  View<T> d_projected;  // result
};

template <class T>
class Transition {
 public:
  virtual ~Transition() = default;

  virtual Index latent() const = 0;          // d
  virtual Index action() const = 0;          // e
  virtual Index projected_rows() const = 0;  // of `projected`
  virtual Index saved_rows() const = 0;      // of `saved`

  // actions [e x n] → projected [projected_rows x n]
  virtual void project(const Parameters<T>& parameters, const ConstView<T>& actions,
                       View<T> projected) const = 0;
  // z [d x n], projected → next [d x n]; leaves in saved [saved_rows x n] what the backward step needs.
  virtual void step(const Parameters<T>& parameters, const ConstView<T>& z, const ConstView<T>& projected,
                    View<T> next, View<T> saved) const = 0;
  // Adds to the parameters' gradients, and fills d_z and d_projected.
  virtual void step_backward(Parameters<T>& parameters, const StepBackward<T>& batch) const = 0;
  // Adds to the parameters' gradients, and fills d_actions [e x n].
  virtual void project_backward(Parameters<T>& parameters, const ConstView<T>& actions,
                                const ConstView<T>& d_projected, View<T> d_actions) const = 0;
};

enum class TransitionKind { transh, residual, gru, still };

std::string_view transition_name(TransitionKind kind);

struct TransitionShape {
  TransitionKind kind = TransitionKind::gru;
  Index latent = 64;
  Index action = 64;
  Index hidden = 128;  // of the residual one
};

// Adds its tensors as "<name>.…".
template <class T>
std::unique_ptr<Transition<T>> make_transition(Parameters<T>& parameters, const std::string& name,
                                               const TransitionShape& shape, search::SplitMix& random);

extern template std::unique_ptr<Transition<float>> make_transition(Parameters<float>&, const std::string&,
                                                                   const TransitionShape&, search::SplitMix&);
extern template std::unique_ptr<Transition<double>> make_transition(Parameters<double>&, const std::string&,
                                                                    const TransitionShape&,
                                                                    search::SplitMix&);

}  // namespace fuselage::learn
