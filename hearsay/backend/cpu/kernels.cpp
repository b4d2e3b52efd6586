#include "hearsay/backend/kernels.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <numeric>
#include <vector>

#include "hearsay/backend/cpu/int8/product.h"
#include "hearsay/backend/cpu/loops.h"
#include "hearsay/core/thread_pool.h"

namespace hearsay::backend {

namespace {

constexpr std::size_t kChunk = 1 << 14;       // floats per elementwise task: 64 KB per stream
constexpr std::size_t kTileFloats = 1 << 16;  // floats of all rows' tiles together: 256 KB, fits L2

class CpuKernels : public Kernels {
 public:
  CpuKernels(ThreadPool& pool, Precision precision) : pool_(pool), precision_(precision) {}

  std::string device() const override { return "cpu"; }
  std::string isa() const override {
    if (precision_ != Precision::kInt8) return cpu::instruction_set();
    return std::string(cpu::instruction_set()) + " + " + std::string(cpu::byte_product_set());
  }
  Precision precision() const override { return precision_; }

  void fill(float value, Block y) override {
    for_chunks(y.size(), [&](std::size_t i, std::size_t n) { cpu::fill(value, y.data + i, n); });
  }

  void copy(ConstBlock x, Block y) override {
    for_chunks(y.size(), [&](std::size_t i, std::size_t n) {
      std::memcpy(y.data + i, x.data + i, n * sizeof(float));
    });
  }

  void axpy(float a, ConstBlock x, Block y) override {
    for_chunks(y.size(),
               [&](std::size_t i, std::size_t n) { cpu::axpy(a, x.data + i, y.data + i, n); });
  }

  void axpby(float a, ConstBlock x, float b, Block y) override {
    for_chunks(y.size(),
               [&](std::size_t i, std::size_t n) { cpu::axpby(a, x.data + i, b, y.data + i, n); });
  }

  void synchronize() override { handed_out_ = 0; }

  void clip_rows(double most, Block y) override {
    for_rows(y, [&](std::size_t i) {
      float* row = y.row(i).data();
      // A row with a NaN compares false and stays unchanged, so that the run fails on it.
      const double norm = std::sqrt(cpu::squared_norm(row, y.dim));
      if (norm > most) cpu::axpby(static_cast<float>(most / norm), row, 0.0f, row, y.dim);
    });
  }

  void divide_rows(ConstBlock x, std::span<const double> u, Block z) override {
    for_rows(z, [&](std::size_t i) {
      cpu::divide(x.row(i).data(), static_cast<float>(u[i]), z.row(i).data(), z.dim);
    });
  }

  void adam(const AdamRates& r, Block m, Block v, Block g) override {
    for_chunks(g.size(), [&](std::size_t i, std::size_t n) {
      cpu::adam(r.beta1, r.beta2, r.epsilon, r.c1, r.c2, m.data + i, v.data + i, g.data + i, n);
    });
  }

  void accumulate(float a, std::span<const VectorView> q, Block y) override {
    for_rows(y, [&](std::size_t i) { add(a, q[i], y.row(i)); });
  }

  void mean_rows(Block x) override {
    for_chunks(x.dim, [&](std::size_t begin, std::size_t n) {
      std::vector<double> sum(n, 0.0);
      for (std::size_t i = 0; i < x.rows; ++i)
        cpu::add_to_double(x.row(i).data() + begin, sum.data(), n);
      const double count = static_cast<double>(x.rows);
      float* first = x.data + begin;
      for (std::size_t k = 0; k < n; ++k) first[k] = static_cast<float>(sum[k] / count);
      for (std::size_t i = 1; i < x.rows; ++i) {
        std::memcpy(x.row(i).data() + begin, first, n * sizeof(float));
      }
    });
  }

  void squared_norms(ConstBlock x, std::span<double> out) override {
    pool_.run(x.rows, [&](std::size_t i) { out[i] = cpu::squared_norm(x.row(i).data(), x.dim); });
  }

  void sum_rows(ConstBlock x, std::size_t begin, std::span<double> out) override {
    for_chunks(out.size(), [&](std::size_t first, std::size_t n) {
      std::fill_n(out.begin() + static_cast<std::ptrdiff_t>(first), n, 0.0);
      for (std::size_t i = 0; i < x.rows; ++i) {
        cpu::add_to_double(x.row(i).data() + begin + first, out.data() + first, n);
      }
    });
  }

  double magnitude(std::span<const VectorView> q, std::size_t dim) override {
    std::vector<double> each(q.size());
    pool_.run(q.size(), [&](std::size_t j) {
      each[j] = q[j].dense != nullptr ? cpu::magnitude(q[j].dense, dim)
                                      : cpu::magnitude(q[j].value.data(), q[j].value.size());
    });
    return std::accumulate(each.begin(), each.end(), 0.0);
  }

 protected:
  Array::Memory allocate_bytes(std::size_t bytes) override {
    // calloc maps large blocks as zero pages: memory that is never touched costs nothing.
    void* memory = std::calloc(std::max<std::size_t>(bytes, 1), 1);
    if (memory == nullptr) throw std::bad_alloc();
    return {memory, [](void* data) { std::free(data); }};
  }
  void copy_to_host(const void* from, void* to, std::size_t bytes) override {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }
  void copy_to_device(const void* from, void* to, std::size_t bytes) override {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }

  void* result_buffer(std::size_t count) override {
    // Buffers that were handed out must not move: a list of buffers, reused from the first.
    if (handed_out_ == pieces_.size()) pieces_.emplace_back();
    std::vector<double>& piece = pieces_[handed_out_++];
    piece.resize(std::max(piece.size(), count));
    return piece.data();
  }

  void mix_rows(const Mixing& mixing, std::span<const VectorView> q, Block x) override {
    if (q.empty()) return;
    if (q.front().dense == nullptr) {
      mix_sparse(mixing, q, x);
    } else {
      mix_dense(mixing, q, x, [&](const MixedRow& row) {
        cpu::mix_row(row.c, row.own, row.weight, row.q, row.count, x.row(row.i).data() + row.begin,
                     row.n);
      });
    }
  }

  void mix_rows_compensated(const Mixing& mixing, std::span<const VectorView> q, float keep,
                            Block x, Block low) override {
    if (q.empty()) return;
    mix_dense(mixing, q, x, [&](const MixedRow& row) {
      cpu::mix_row_compensated(row.c, row.own, row.weight, row.q, row.count, keep,
                               x.row(row.i).data() + row.begin, low.row(row.i).data() + row.begin,
                               row.n);
    });
  }

 private:
  /// The terms added to columns [begin, begin + n) of row i, named as in cpu::mix_row.
  struct MixedRow {
    std::size_t i, begin, n;
    const float* c;
    const float* own;
    const float* weight;
    const float* const* q;
    std::size_t count;
  };

  /// body(first, count) over chunks of [0, size): the floats of a block, or the columns of its
  /// rows.
  template <class Body>
  void for_chunks(std::size_t size, const Body& body) {
    pool_.run((size + kChunk - 1) / kChunk, [&](std::size_t chunk) {
      const std::size_t begin = chunk * kChunk;
      body(begin, std::min(kChunk, size - begin));
    });
  }

  template <class Body>
  void for_rows(Block block, const Body& body) {
    pool_.run(block.rows, [&](std::size_t i) { body(i); });
  }

  static void add(float a, const VectorView& q, std::span<float> y) {
    if (q.dense != nullptr) {
      cpu::axpy(a, q.dense, y.data(), y.size());
    } else {
      for (std::size_t k = 0; k < q.index.size(); ++k) y[q.index[k]] += a * q.value[k];
    }
  }

  /// A double as the sum of two floats.
  struct Split {
    explicit Split(double value)
        : part{static_cast<float>(value),
               static_cast<float>(value - static_cast<double>(static_cast<float>(value)))} {}
    float part[2];
  };

  void mix_sparse(const Mixing& mixing, std::span<const VectorView> q, Block x) {
    for_rows(x, [&](std::size_t i) {
      const Split debit(-mixing.debit[i]);
      for (float part : debit.part) {
        if (part != 0) add(part, q[i], x.row(i));
      }
      for (std::uint32_t e = mixing.begin[i]; e < mixing.begin[i + 1]; ++e) {
        add(mixing.weight[e], q[mixing.source[e]], x.row(i));
      }
    });
  }

  /// Loops over tiles of columns, all rows of a tile at once: sources that are rows of x are copied
  /// out first, so x is read once and written once, and mixing needs no second n x d block. Calls
  /// add(MixedRow) for every row of a tile.
  template <class Add>
  void mix_dense(const Mixing& mixing, std::span<const VectorView> q, Block x, const Add& add) {
    if (x.dim == 0) return;
    const std::size_t tile =
        std::clamp<std::size_t>(kTileFloats / std::max<std::size_t>(x.rows, 1) / 16 * 16, 64, 4096);
    pool_.run((x.dim + tile - 1) / tile, [&](std::size_t t) {
      const std::size_t begin = t * tile, n = std::min(tile, x.dim - begin);
      thread_local std::vector<float> copies;
      thread_local std::vector<const float*> source;
      copies.resize(std::max(copies.size(), q.size() * tile));
      source.resize(q.size());
      std::size_t copied = 0;
      for (std::size_t j = 0; j < q.size(); ++j) {
        source[j] = q[j].dense + begin;
        if (q[j].dense >= x.data && q[j].dense < x.data + x.size()) {
          float* copy = copies.data() + tile * copied++;
          std::memcpy(copy, source[j], n * sizeof(float));
          source[j] = copy;
        }
      }
      thread_local std::vector<const float*> terms;
      for (std::size_t i = 0; i < x.rows; ++i) {
        const std::uint32_t first = mixing.begin[i], count = mixing.begin[i + 1] - first;
        double surplus = -mixing.debit[i];
        terms.clear();
        for (std::uint32_t e = first; e < first + count; ++e) {
          surplus += static_cast<double>(mixing.weight[e]);
          terms.push_back(source[mixing.source[e]]);
        }
        const Split c(surplus);
        add(MixedRow{i, begin, n, c.part, source[i], mixing.weight.data() + first, terms.data(),
                     count});
      }
    });
  }

  ThreadPool& pool_;
  Precision precision_;
  std::vector<std::vector<double>> pieces_;
  std::size_t handed_out_ = 0;
};

}  // namespace

std::unique_ptr<Kernels> make_cpu_kernels(ThreadPool& pool, Precision precision) {
  return std::make_unique<CpuKernels>(pool, precision);
}

}  // namespace hearsay::backend
