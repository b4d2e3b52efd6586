#pragma once

#include <memory>
#include <string_view>

#include "hearsay/core/spec.h"
#include "hearsay/data/dataset.h"

namespace hearsay::data {

/// The loaders, one source file per format; dataset.cpp has the table of them and of their
/// parameters. Each reads and checks all of its files.
using Source = std::shared_ptr<const Dataset>(const Arguments&);

/// IDX files (train-images-idx3-ubyte, ...), gzip'ed or not, in the folder `path` or its MNIST/raw.
/// 28x28 grey pixels, ten classes: also for Fashion-MNIST and KMNIST, with MNIST's mean and
/// deviation.
Source make_mnist;  // mnist.cpp

/// The binary version: data_batch_1.bin .. 5.bin and test_batch.bin in the folder `path` or its
/// cifar-10-batches-bin; train.bin and test.bin in `path` or its cifar-100-binary (fine labels).
Source make_cifar10, make_cifar100;  // cifar.cpp

/// Images in train/CLASS/ and val/CLASS/ (or test/CLASS/), .jpg, .jpeg or .png. Classes are the
/// folders of train/ in alphabetical order. The centre square of an image is kept, scaled to
/// 256/224 of `size`: the model sees the centre of that. ImageNet's mean and deviation. Takes 3
/// (8/7 size)^2 bytes per image: 196,608 at size=224.
Source make_folder;  // folder.cpp

/// A synthetic task that can be learnt: class c is a smooth random image, a sample is that plus
/// noise; 128 + 32 (image + noise u) as bytes, u uniform with deviation 1. `samples` for training
/// and a fifth of that (at least one per class) for testing, labels 0, 1, ..., 0, 1, ... A function
/// of its parameters.
Source make_synthetic;  // synthetic.cpp

/// A regression of that kind: a sample is a mixture sum_l z_l image_l / 2 of four smooth random
/// images, plus the same noise, and its targets are smooth functions of the four z ~ N(0, 1):
///   t_k = a_k . z + tanh(2 b_k . z),  a_k and b_k random unit vectors.
/// Images with fewer than four pixels, channels counted, do not determine z.
Source make_synthetic_regression;

/// Arrays x and y, optionally x_test and y_test, as numpy's savez and savez_compressed write them.
/// y: class indices 0, 1, ... of any integer type. x: any real type, of shape (N, features), (N,
/// height, width) or (N, channels, height, width). Unsigned bytes stay bytes, scaled by 1/255; of
/// shape (N, features) they are pixels of one channel, while other types have one channel per
/// feature. own_data.h describes normalisation and the test part. In a regression y is of any real
/// type and of shape (N) or (N, targets).
Source make_npz, make_npz_regression;  // npz.cpp

/// A table with a header row; the column `label` holds the class (text or numbers), all others
/// are finite numbers, the features, each a channel of its own (own_data.h). In a regression the
/// columns `target`, joined by +, hold the finite numbers to predict.
Source make_csv, make_csv_regression;  // csv.cpp

/// The number of training samples of the same arguments: from the list of files, the labels, or the
/// lines, which is quick, and exact but for the rounding of `test` per class.
using Count = std::size_t(const Arguments&);
Count samples_of_folder, samples_of_synthetic, samples_of_npz, samples_of_csv;

inline constexpr std::string_view kMnistSource =
    "Y. LeCun, C. Cortes, C. Burges: The MNIST database of handwritten digits, "
    "http://yann.lecun.com/exdb/mnist (mirror: https://ossci-datasets.s3.amazonaws.com/mnist); "
    "licence CC BY-SA 3.0";
inline constexpr std::string_view kCifarSource =
    "A. Krizhevsky: Learning Multiple Layers of Features from Tiny Images, 2009, "
    "https://www.cs.toronto.edu/~kriz/cifar.html; no licence stated";

}  // namespace hearsay::data
