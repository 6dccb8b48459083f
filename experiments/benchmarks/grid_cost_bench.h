// What a grid kernel's price takes to work out.
#pragma once

#include <span>
#include <string>

// Benchmarks of a generated problem and of each file.
void register_grid_cost(std::span<const std::string> files);
