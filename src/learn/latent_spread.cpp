#include "fuselage/learn/latent_spread.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "fuselage/core/error.h"

namespace fuselage::learn {
namespace {

double effective_rank(const Matrix<double>& covariance) {
  const Eigen::SelfAdjointEigenSolver<Matrix<double>> solver(covariance, Eigen::EigenvaluesOnly);
  double sum = 0;
  for (Index i = 0; i < covariance.rows(); ++i) sum += std::max(solver.eigenvalues()(i), 0.0);
  double entropy = 0;
  for (Index i = 0; i < covariance.rows(); ++i) {
    const double part = solver.eigenvalues()(i) / sum;
    if (part > 0) entropy -= part * std::log(part);
  }
  return std::exp(entropy);
}

}  // namespace

template <class T>
LatentSpread latent_spread(const ConstView<T>& latents) {
  const Index d = latents.rows();
  const Index n = latents.cols();
  LatentSpread result;
  result.deviations.resize(static_cast<std::size_t>(d));
  for (Index column = 0; column < n; ++column)
    for (Index row = 0; row < d; ++row)
      if (!std::isfinite(latents(row, column)))
        fail("latents: row {} of sample {} is {}; expected a finite number", row, column,
             latents(row, column));
  if (n < 2 || d == 0) return result;
  Matrix<double> centred = latents.template cast<double>();
  Matrix<double> mean = Matrix<double>::Zero(d, 1);
  add_columns<double>(mean, centred);
  mean /= static_cast<double>(n);
  centred.colwise() -= mean.col(0);
  Matrix<double> covariance = Matrix<double>::Zero(d, d);
  add_outer<double>(covariance, centred, centred);
  covariance /= static_cast<double>(n);
  for (Index row = 0; row < d; ++row) {
    result.deviations[static_cast<std::size_t>(row)] = std::sqrt(covariance(row, row));
    result.mean_deviation += std::sqrt(covariance(row, row)) / static_cast<double>(d);
  }
  // What rounding leaves of equal numbers is no spread.
  const double largest = latents.template cast<double>().cwiseAbs().maxCoeff();
  if (result.mean_deviation > 1e-12 * largest) result.effective_rank = effective_rank(covariance);
  return result;
}

template LatentSpread latent_spread<float>(const ConstView<float>&);
template LatentSpread latent_spread<double>(const ConstView<double>&);

}  // namespace fuselage::learn
