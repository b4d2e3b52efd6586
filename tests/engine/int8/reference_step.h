#pragma once

#include <cstdint>
#include <vector>

#include "engine/int8/reference.h"

/// The parts of the reference of networks in 8 bits: a pair of functions per operation, over a
/// whole batch. Arrays are in the order sample, channel, row, column; a product's weights as in the
/// model.
namespace hearsay::engine::reference8 {

using Integers = std::vector<std::int64_t>;
using Floats = std::vector<float>;

inline constexpr std::size_t kChunk =
    8;  ///< consecutive samples whose weight gradients have one unit

/// A value of the network: numbers s q with a scale s per sample, or floats if it is the last one.
struct Value {
  model::Shape shape;
  Integers q;
  Floats s;
  Floats floats;
  Floats gradient;  ///< of the loss, empty before the first reader adds to it

  std::size_t size() const { return shape.size(); }
  void add_gradient(const Floats& g);
};

/// The arrays of one operation and those fused into it.
struct Step {
  std::size_t index = 0;  ///< of the operation
  std::size_t batch = 0;
  const StreamKey* key = nullptr;  ///< null in evaluation
  Int8Variant variant = Int8Variant::kDefinition;
  Value* x = nullptr;
  Value* y = nullptr;
  const Value* residual = nullptr;
  std::vector<const float*> w;  ///< one per parameter
  std::vector<float*> dw;
  bool reads_images = false, is_last = false;
};

// quantize.h's roundings, written a second time: int8_reference_quantize.cpp.

std::int64_t nearest(float x);                               ///< ties to even
std::int64_t divided(std::int64_t x, int bits);              ///< x / 2^bits, rounded down
void quantize(const Floats& t, const Step& step, Value& y);  ///< y = Q8(t)
/// y = Q8(t), whose unit is units[n] for sample n.
void quantize(const Integers& t, const Floats& units, const Step& step, Value& y);

/// Weights: Q8 of a tensor.
struct Weights {
  Integers q;
  float s;
};
Weights quantized_weights(const float* w, std::size_t size);

/// The gradient of a product's output: g of 16 bits, its scales, and SR8(g) in units of 256 s.
struct Rounded {
  Integers g, q;
  Floats s;
};
Rounded round_gradient(const Floats& d, const Step& step);

// Each `forward` sets y; each `backward`, given y's gradient, adds to that of x and to dw.
// int8_reference_products.cpp, _norm.cpp and _codes.cpp.

void forward(const model::Conv2d&, Step&);
void backward(const model::Conv2d&, Step&, const Floats& g);
void forward(const model::Linear&, Step&);
void backward(const model::Linear&, Step&, const Floats& g);
void forward(const model::RangeEvoNorm&, Step&);
void backward(const model::RangeEvoNorm&, Step&, const Floats& g);
void forward(const model::Add&, Step&);
void backward(const model::Add&, Step&, const Floats& g);
void forward(const model::Relu&, Step&);
void backward(const model::Relu&, Step&, const Floats& g);
void forward(const model::Shortcut&, Step&);
void backward(const model::Shortcut&, Step&, const Floats& g);
void forward(const model::MaxPool&, Step&);
void backward(const model::MaxPool&, Step&, const Floats& g);
void forward(const model::GlobalAveragePool&, Step&);
void backward(const model::GlobalAveragePool&, Step&, const Floats& g);
void forward(const model::Dropout&, Step&);
void backward(const model::Dropout&, Step&, const Floats& g);
void forward(const model::Flatten&, Step&);
void backward(const model::Flatten&, Step&, const Floats& g);

/// The input pixel that each output pixel of a channel meets, at each place of a window that slides
/// over an image; rows first. Pixels beyond the image are left out.
struct Meeting {
  std::size_t in, out;
};
std::vector<std::vector<Meeting>> slide(std::size_t kernel, std::size_t stride, std::size_t padding,
                                        const model::Shape& in, const model::Shape& out);

}  // namespace hearsay::engine::reference8
