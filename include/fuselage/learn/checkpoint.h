// Models and trainings on disk, as safetensors files. A matrix is written row by row with the shape [rows,
// columns] that other frameworks give a layer's weight, a column alone as a vector. A training that is saved
// and loaded goes on with the same bytes as one that was never stopped.
#pragma once

#include <string>

#include "fuselage/learn/adam.h"
#include "fuselage/learn/parameters.h"
#include "fuselage/learn/safetensors.h"

namespace fuselage::learn {

// The tensors of a model by their names, each with `prefix` before it. Reading: Error unless every tensor of
// `parameters` is there with its shape and finite numbers; then nothing has been changed.
void add_parameters(TensorWriter& writer, const Parameters<float>& parameters,
                    const std::string& prefix = "");
void take_parameters(const TensorFile& file, Parameters<float>& parameters, const std::string& prefix = "");

// Error if the file has a tensor that is none of these, which means that it is another model's.
void expect_only_parameters(const TensorFile& file, const Parameters<float>& parameters);

// A training between two steps: parameters, the optimiser's moments and steps; and the caller's notes, for
// all else that decides how it goes on (seed, place in the data, configuration). The keys "format" and
// "adam.steps" are this file's own.
void save_checkpoint(const std::string& path, const Parameters<float>& parameters, const Adam<float>& adam,
                     const TensorNotes& notes = {});
// Puts back what was saved and returns the notes. Error, and nothing changed, if the file is no checkpoint of
// this model: a tensor missing, too many, of another shape, or not finite.
TensorNotes load_checkpoint(const std::string& path, Parameters<float>& parameters, Adam<float>& adam);

}  // namespace fuselage::learn
