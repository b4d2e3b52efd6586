#include "hearsay/engine/train_only.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hearsay/core/error.h"
#include "hearsay/core/text.h"
#include "hearsay/model/description.h"

namespace hearsay::engine {

namespace {

using backend::Block;
using backend::ConstBlock;

bool matches_one(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern.front() == '*') {
    return matches_one(pattern.substr(1), name) ||
           (!name.empty() && matches_one(pattern, name.substr(1)));
  }
  return !name.empty() && (pattern.front() == '?' || pattern.front() == name.front()) &&
         matches_one(pattern.substr(1), name.substr(1));
}

class TrainOnly final : public Objective {
 public:
  TrainOnly(std::unique_ptr<Objective> whole, std::string_view patterns,
            std::span<const float> start, const ObjectiveContext& context)
      : whole_(std::move(whole)),
        start_(start.begin(), start.end()),
        kernels_(context.kernels),
        rows_(context.rows),
        models_(kernels_.allocate(rows_, start.size())),
        gradient_(kernels_.allocate(rows_, start.size())) {
    for (const Segment& segment : whole_->layout().segments()) {
      if (!matches(patterns, segment.name)) continue;
      parts_.push_back({segment.offset, layout_.dim(), segment.size});
      layout_.add(segment.name, segment.shape);
    }
    for (std::size_t i = 0; i < rows_; ++i) kernels_.upload(start_, models_, i);
  }

  const Layout& layout() const override { return layout_; }
  std::uint64_t rounds_per_epoch() const override { return whole_->rounds_per_epoch(); }
  std::size_t batch() const override { return whole_->batch(); }

  void initial_model(std::uint32_t /*peer*/, std::span<float> x) const override {
    std::ranges::copy(trained(start_), x.begin());
  }
  bool starts_alike() const override { return true; }

  void gradients(std::uint32_t round, ConstBlock at, Block out, std::span<double> losses) override {
    spread(at);
    whole_->gradients(round, models_, gradient_, losses);
    const ConstBlock gradient = gradient_;
    for_each_part([&](std::size_t row, const Part& part) {
      kernels_.copy(tensor(gradient, row, part.whole, part.size),
                    tensor(out, row, part.trained, part.size));
    });
  }
  void observe(std::uint32_t round, ConstBlock at) override {
    spread(at);
    whole_->observe(round, models_);
  }

  const Layout& buffer_layout() const override { return whole_->buffer_layout(); }
  std::vector<float> buffers(std::size_t row) const override { return whole_->buffers(row); }
  void set_buffers(std::size_t row, std::span<const float> values) override {
    whole_->set_buffers(row, values);
  }
  std::vector<float> estimate_buffers(std::span<const float> model) const override {
    return whole_->estimate_buffers(whole(model));
  }

  const Layout& whole_layout() const override { return whole_->layout(); }
  std::vector<float> whole(std::span<const float> trained) const override {
    std::vector<float> all = start_;
    for (const Part& part : parts_) {
      std::ranges::copy(trained.subspan(part.trained, part.size),
                        all.begin() + static_cast<std::ptrdiff_t>(part.whole));
    }
    return all;
  }
  std::vector<float> trained(std::span<const float> whole) const override {
    std::vector<float> some(layout_.dim());
    for (const Part& part : parts_) {
      std::ranges::copy(whole.subspan(part.whole, part.size),
                        some.begin() + static_cast<std::ptrdiff_t>(part.trained));
    }
    return some;
  }

  std::span<const Metric> metrics() const override { return whole_->metrics(); }
  Score evaluate(std::span<const float> model, std::span<const float> buffers) const override {
    return whole_->evaluate(whole(model), buffers);
  }
  std::vector<Score> scores(ConstBlock at) override {
    spread(at);
    return whole_->scores(models_);
  }

  std::vector<std::vector<std::size_t>> class_counts() const override {
    return whole_->class_counts();
  }
  const model::Network* network() const override { return whole_->network(); }
  std::optional<model::Description> description() const override { return whole_->description(); }
  std::vector<std::string> class_names() const override { return whole_->class_names(); }
  TargetScale target_scale() const override { return whole_->target_scale(); }
  std::string data_sha256() const override { return whole_->data_sha256(); }
  void state(backend::StateList& list) override { whole_->state(list); }

 private:
  /// A trained tensor: where it stands in the whole model and in the trained one.
  struct Part {
    std::size_t whole, trained, size;
  };

  template <class T>
  static backend::BasicBlock<T> tensor(backend::BasicBlock<T> of, std::size_t row,
                                       std::size_t offset, std::size_t size) {
    return {of.row(row).subspan(offset, size).data(), 1, size};
  }

  template <class Body>
  void for_each_part(const Body& body) const {
    for (std::size_t row = 0; row < rows_; ++row) {
      for (const Part& part : parts_) {
        if (part.size > 0) body(row, part);
      }
    }
  }

  /// The whole models of the rows with these trained parts.
  void spread(ConstBlock at) {
    const Block models = models_;
    for_each_part([&](std::size_t row, const Part& part) {
      kernels_.copy(tensor(at, row, part.trained, part.size),
                    tensor(models, row, part.whole, part.size));
    });
  }

  std::unique_ptr<Objective> whole_;
  std::vector<float> start_;
  backend::Kernels& kernels_;
  std::size_t rows_;
  backend::Array models_, gradient_;  ///< whole ones
  Layout layout_;
  std::vector<Part> parts_;
};

}  // namespace

bool matches(std::string_view patterns, std::string_view name) {
  while (true) {
    const std::size_t end = patterns.find('+');
    if (matches_one(patterns.substr(0, end), name)) return true;
    if (end == std::string_view::npos) return false;
    patterns.remove_prefix(end + 1);
  }
}

std::unique_ptr<Objective> train_only(std::unique_ptr<Objective> whole, std::string_view patterns,
                                      std::span<const float> start,
                                      const ObjectiveContext& context) {
  std::vector<std::string> names;
  std::size_t found = 0;
  for (const Segment& segment : whole->layout().segments()) {
    names.push_back(segment.name);
    found += matches(patterns, segment.name) ? 1 : 0;
  }
  if (found == 0) {
    throw InvalidArgument(
        fmt::format("[train-only] no tensor of the model is named '{}'; there are {}", patterns,
                    name_list(names)));
  }
  if (found == names.size()) return whole;
  return std::make_unique<TrainOnly>(std::move(whole), patterns, start, context);
}

}  // namespace hearsay::engine
