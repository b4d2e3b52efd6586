#include <limits>

#include "model/reference_step.h"

namespace hearsay::model {

namespace {

/// Calls visit(row, column, k, l) for every position (k, l) in the window of output pixel (i, j)
/// that lies within the image, in row-major order.
template <class Window, class Visit>
void visit_window(const Window& window, const Shape& in, std::size_t i, std::size_t j,
                  Visit visit) {
  for (std::size_t k = 0; k < window.kernel; ++k) {
    for (std::size_t l = 0; l < window.kernel; ++l) {
      const std::size_t row = i * window.stride + k, column = j * window.stride + l;
      if (row < window.padding || row >= in.height + window.padding) continue;
      if (column < window.padding || column >= in.width + window.padding) continue;
      visit(row - window.padding, column - window.padding, k, l);
    }
  }
}

/// Calls visit(sample, channel, row, column) for every entry of the output.
template <class Visit>
void visit_output(const Step& step, Visit visit) {
  for (std::size_t b = 0; b < step.batch; ++b) {
    for (std::size_t c = 0; c < step.out.channels; ++c) {
      for (std::size_t i = 0; i < step.out.height; ++i) {
        for (std::size_t j = 0; j < step.out.width; ++j) visit(b, c, i, j);
      }
    }
  }
}

/// Calls visit(output, input, weight) for every product of a convolution, by flat indices.
template <class Visit>
void visit_products(const Conv2d& conv, const Step& step, Visit visit) {
  visit_output(step, [&](std::size_t b, std::size_t o, std::size_t i, std::size_t j) {
    const std::size_t output = at(step.out, b, o, i, j);
    for (std::size_t c = 0; c < step.in.channels; ++c) {
      visit_window(conv, step.in, i, j,
                   [&](std::size_t row, std::size_t column, std::size_t k, std::size_t l) {
                     visit(output, at(step.in, b, c, row, column),
                           ((o * step.in.channels + c) * conv.kernel + k) * conv.kernel + l);
                   });
    }
  });
}

/// The index of the largest entry of a window; of equal ones the first.
std::size_t largest_place(const MaxPool& pool, const Step& step, std::size_t b, std::size_t c,
                          std::size_t i, std::size_t j) {
  std::size_t place = 0;
  double largest = -std::numeric_limits<double>::infinity();
  visit_window(pool, step.in, i, j,
               [&](std::size_t row, std::size_t column, std::size_t, std::size_t) {
                 const std::size_t input = at(step.in, b, c, row, column);
                 if (step.x[0][input] > largest) {
                   largest = step.x[0][input];
                   place = input;
                 }
               });
  return place;
}

}  // namespace

void forward(const Conv2d& conv, Step& step) {
  visit_output(step, [&](std::size_t b, std::size_t o, std::size_t i, std::size_t j) {
    step.y[at(step.out, b, o, i, j)] = conv.bias ? step.w[1][o] : 0;
  });
  visit_products(conv, step, [&](std::size_t output, std::size_t input, std::size_t weight) {
    step.y[output] += step.w[0][weight] * step.x[0][input];
  });
}

void backward(const Conv2d& conv, Step& step) {
  if (conv.bias) {
    visit_output(step, [&](std::size_t b, std::size_t o, std::size_t i, std::size_t j) {
      step.dw[1][o] += step.dy[at(step.out, b, o, i, j)];
    });
  }
  visit_products(conv, step, [&](std::size_t output, std::size_t input, std::size_t weight) {
    step.dw[0][weight] += step.dy[output] * step.x[0][input];
    step.dx[0][input] += step.dy[output] * step.w[0][weight];
  });
}

void forward(const MaxPool& pool, Step& step) {
  visit_output(step, [&](std::size_t b, std::size_t c, std::size_t i, std::size_t j) {
    step.y[at(step.out, b, c, i, j)] = step.x[0][largest_place(pool, step, b, c, i, j)];
  });
}

void backward(const MaxPool& pool, Step& step) {
  visit_output(step, [&](std::size_t b, std::size_t c, std::size_t i, std::size_t j) {
    step.dx[0][largest_place(pool, step, b, c, i, j)] += step.dy[at(step.out, b, c, i, j)];
  });
}

void forward(const GlobalAveragePool&, Step& step) {
  const std::size_t pixels = step.in.pixels();
  for (std::size_t i = 0; i < step.y.size(); ++i) {
    double sum = 0;
    for (std::size_t p = 0; p < pixels; ++p) sum += step.x[0][i * pixels + p];
    step.y[i] = sum / static_cast<double>(pixels);
  }
}

void backward(const GlobalAveragePool&, Step& step) {
  const std::size_t pixels = step.in.pixels();
  for (std::size_t i = 0; i < step.dx[0].size(); ++i) {
    step.dx[0][i] += step.dy[i / pixels] / static_cast<double>(pixels);
  }
}

void forward(const Shortcut& shortcut, Step& step) {
  const std::size_t before = (shortcut.out - step.in.channels) / 2;
  visit_output(step, [&](std::size_t b, std::size_t c, std::size_t i, std::size_t j) {
    const bool old = c >= before && c < before + step.in.channels;
    step.y[at(step.out, b, c, i, j)] =
        old ? step.x[0][at(step.in, b, c - before, 2 * i, 2 * j)] : 0;
  });
}

void backward(const Shortcut& shortcut, Step& step) {
  const std::size_t before = (shortcut.out - step.in.channels) / 2;
  visit_output(step, [&](std::size_t b, std::size_t c, std::size_t i, std::size_t j) {
    if (c < before || c >= before + step.in.channels) return;
    step.dx[0][at(step.in, b, c - before, 2 * i, 2 * j)] += step.dy[at(step.out, b, c, i, j)];
  });
}

}  // namespace hearsay::model
