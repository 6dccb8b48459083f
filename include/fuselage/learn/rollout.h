// Many steps of a transition: latents of whole sequences of actions, each from its own start, and the
// gradient back through all of them (Werbos, "Backpropagation through time", 1990). The latents before and
// after every token come out in packed order, since heads and losses want either.
#pragma once

#include "fuselage/learn/packing.h"
#include "fuselage/learn/transition.h"

namespace fuselage::learn {

template <class T>
struct Rollout {
  const Packing* packing = nullptr;
  ConstView<T> start;    // [d x sequences], by sequence
  ConstView<T> actions;  // [e x tokens], packed
  View<T> before;        // result [d x tokens], packed
  View<T> after;         // result [d x tokens], packed
};

// What a forward pass leaves for the backward one, and memory for both; of one thread.
template <class T>
struct RolloutPass {
  Buffer<T> projected;
  Buffer<T> saved;
  Buffer<T> d_projected;
  Buffer<T> d_latent;
};

// Gradients with respect to a rollout's matrices; the first two come with what the loss says of every latent
// by itself, and are overwritten.
template <class T>
struct RolloutGradients {
  View<T> before;
  View<T> after;
  View<T> actions;  // result
  View<T> start;    // result; zero for sequences without tokens
};

template <class T>
void roll(const Transition<T>& transition, const Parameters<T>& parameters, const Rollout<T>& rollout,
          RolloutPass<T>& pass);
// For the same rollout and pass; adds to the parameters' gradients. Once only: it uses up the pass.
template <class T>
void roll_backward(const Transition<T>& transition, Parameters<T>& parameters, const Rollout<T>& rollout,
                   const RolloutGradients<T>& gradients, RolloutPass<T>& pass);

// out [d x sequences]: the latent after each sequence's last token; its start if it has none.
template <class T>
void take_last(const Rollout<T>& rollout, View<T> out);

}  // namespace fuselage::learn
