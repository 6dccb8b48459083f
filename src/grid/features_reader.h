// Gathers the facts of one kernel in one state, op by op.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <span>

#include "features_columns.h"

namespace fuselage::grid {

class Features::Reader {
 public:
  Reader(const Features& features, const KernelView& kernel, const StateView& before);

  std::size_t size() const { return kernel_.ops.size(); }
  TokenFacts token(std::size_t place) const;
  KernelFacts kernel() const;

 private:
  // What is made of an op's output at a time, elements.
  struct Asked {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    bool root = false;
    bool lhs = false;  // an op of the kernel reads it as such
    bool rhs = false;
  };
  template <class T>
  using Few = boost::container::small_vector<T, 16>;

  void find_grid();
  void find_asked();
  void ask(std::size_t reader, TensorId t);
  bool inside(OpId op) const;
  bool reads(OpId op, TensorId t) const;
  bool read_inside(TensorId t) const;
  bool retained(TensorId t) const;
  bool resident(TensorId t) const;
  // Does an op outside that has not run, or whoever wants the graph's outputs, need the tensor?
  bool needed_outside(TensorId t) const;
  bool left_outside(OpId op) const;
  bool made_inside(TensorId t) const;
  void add_input(std::size_t place, TensorId t, TokenFacts& token) const;
  void add_output(TensorId t, TokenFacts& token) const;
  double slice(std::size_t place, TensorId t) const;
  double elements(TensorId t) const;
  bool can_run_after(OpId op) const;
  void add_ops(KernelFacts& facts) const;
  void add_inputs(KernelFacts& facts) const;
  void add_sinks(KernelFacts& facts) const;
  void add_readers(KernelFacts& facts) const;
  void add_residents(KernelFacts& facts) const;

  const Features& features_;
  const Instance& instance_;
  const KernelView& kernel_;
  const StateView& before_;
  Few<Asked> asked_;
  std::int64_t height_ = 0;  // of the grid
  std::int64_t width_ = 0;
  std::int64_t reduction_ = 0;  // the longest K; 0: no matmul
  double rows_ = 1;             // of tiles
  double columns_ = 1;
  double steps_ = 1;
};

}  // namespace fuselage::grid
