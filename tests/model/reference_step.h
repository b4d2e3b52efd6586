#pragma once

#include <vector>

#include "model/reference.h"

namespace hearsay::model {

/// The arrays of one operation in a pass over a batch. Gradients are accumulated, not overwritten.
struct Step {
  std::size_t index = 0;  ///< of the operation
  std::size_t batch = 0;
  Shape in, out;  ///< of one sample; `in` of the first input
  bool training = false;
  double momentum = 0;  ///< of running statistics, in training
  const Dropped* dropped = nullptr;

  std::vector<std::span<const double>> x;  ///< one per input
  std::span<double> y;
  std::vector<std::span<const double>> w;  ///< one per parameter
  std::vector<std::span<double>> buffers;

  std::span<const double> dy;
  std::vector<std::span<double>> dx, dw;
};

/// The offset of entry (channel, row, column) of a sample.
inline std::size_t at(const Shape& shape, std::size_t sample, std::size_t channel, std::size_t row,
                      std::size_t column) {
  return ((sample * shape.channels + channel) * shape.height + row) * shape.width + column;
}

// One pair per kind: `forward` sets y, and the buffers in training; `backward` adds to dx and dw.

void forward(const Input&, Step&);
void backward(const Input&, Step&);

// reference_windows.cpp
void forward(const Conv2d&, Step&);
void backward(const Conv2d&, Step&);
void forward(const MaxPool&, Step&);
void backward(const MaxPool&, Step&);
void forward(const GlobalAveragePool&, Step&);
void backward(const GlobalAveragePool&, Step&);
void forward(const Shortcut&, Step&);
void backward(const Shortcut&, Step&);

// reference_norms.cpp
void forward(const BatchNorm&, Step&);
void backward(const BatchNorm&, Step&);
void forward(const GroupNorm&, Step&);
void backward(const GroupNorm&, Step&);
void forward(const LayerNorm&, Step&);
void backward(const LayerNorm&, Step&);
void forward(const EvoNorm&, Step&);
void backward(const EvoNorm&, Step&);
void forward(const RangeEvoNorm&, Step&);
void backward(const RangeEvoNorm&, Step&);

// reference_pointwise.cpp
void forward(const Linear&, Step&);
void backward(const Linear&, Step&);
void forward(const Relu&, Step&);
void backward(const Relu&, Step&);
void forward(const Gelu&, Step&);
void backward(const Gelu&, Step&);
void forward(const Add&, Step&);
void backward(const Add&, Step&);
void forward(const Dropout&, Step&);
void backward(const Dropout&, Step&);
void forward(const Flatten&, Step&);
void backward(const Flatten&, Step&);

}  // namespace hearsay::model
