// Speed of the matmul kernels, one thread: GB/s of weight bytes with one token, weights from memory
// (many matrices in turn) and from the cache (one small one), and Gop/s with many tokens.
//   kernel_bench [level [format [rows k tokens]]]
#include "runtime/kernels/cpu/Bitcode.h"
#include "runtime/kernels/cpu/Native.h"
#include "tests/kernels/matmul/Operands.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <time.h>

using namespace vetro;
using namespace vetro::test;

static double now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); // other programs' turns do not count
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/// Median CPU seconds of a call, over at least five and about 0.3 s.
template <class Call> static double seconds(Call call) {
  std::vector<double> times;
  call();
  for (double begin = now(); times.size() < 5 || now() - begin < 0.3;) {
    double t = now();
    call();
    times.push_back(now() - t);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

struct Shape {
  uint32_t rows;
  uint64_t k;
  uint32_t tokens;
};

static double packRate(const Weight &w) {
  std::vector<uint8_t> tile(tileBytes(w.format, w.k));
  double s = seconds([&] {
    for (uint64_t first = 0; first + 16 <= w.n; first += 16) {
      const uint8_t *rows[16];
      for (int r = 0; r < 16; ++r)
        rows[r] = &w.file[(first + r) * rowBytes(w.format, w.k)];
      packTile(w.format, w.k, rows, tile.data());
    }
  });
  return (double)w.file.size() / s * 1e-9;
}

/// GB/s of a loop that only adds up 1 GB: what any kernel is measured against.
static double plainRead(const uint8_t *data, uint64_t bytes) {
  typedef uint64_t Words __attribute__((vector_size(64)));
  Words sum = {};
  double s = seconds([&] {
    for (uint64_t i = 0; i + 256 <= bytes; i += 256)
      for (int j = 0; j < 4; ++j) {
        Words w;
        memcpy(&w, data + i + 64 * j, 64);
        sum += w;
      }
  });
  volatile uint64_t keep = sum[0];
  (void)keep;
  return (double)bytes / s * 1e-9;
}

static void bench(const NativeKernels &kernels, Format f, Shape shape) {
  Weight w = makeWeight(f, shape.rows, shape.k, Values::Ordinary, 1);
  Activations x = makeActivations(f, shape.tokens, shape.k, false, 2);
  std::vector<float> y((uint64_t)shape.rows * shape.tokens);
  uint64_t bytes = packedBytes(f, shape.rows, shape.k);
  VtMatMul *matmul = kernels.matmul(f);
  double cached = seconds([&] {
    matmul(w.packed, shape.k, 0, shape.rows, x.data, x.stride, 1, 1, y.data(), shape.rows);
  });
  // 1 GB: beyond every cache.
  uint64_t copies = (1000000000 + bytes - 1) / bytes;
  auto *many = (uint8_t *)mmap(nullptr, copies * bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (many == MAP_FAILED)
    return;
  madvise(many, copies * bytes, MADV_HUGEPAGE);
  for (uint64_t i = 0; i < copies; ++i)
    memcpy(many + i * bytes, w.packed, bytes);
  double memory = seconds([&] {
    for (uint64_t i = 0; i < copies; ++i)
      matmul(many + i * bytes, shape.k, 0, shape.rows, x.data, x.stride, 1, 1, y.data(),
             shape.rows);
  });
  double read = plainRead(many, copies * bytes);
  munmap(many, copies * bytes);
  double batch = seconds([&] {
    matmul(w.packed, shape.k, 0, shape.rows, x.data, x.stride, 1, shape.tokens, y.data(),
           shape.rows);
  });
  printf("%-7s %-7s %6.1f GB/s memory (read %5.1f) %6.1f GB/s cache %7.1f Gop/s %6.2f GB/s pack\n",
         kernels.level, formatInfo(f).name, (double)(copies * bytes) / memory * 1e-9, read,
         (double)bytes / cached * 1e-9,
         2e-9 * (double)shape.rows * (double)shape.k * shape.tokens / batch, packRate(w));
}

int main(int argc, char **argv) {
  Shape shape{1536, 768, 512}; // k: a multiple of every block
  if (argc > 5)
    shape = {(uint32_t)atoi(argv[3]), (uint64_t)atoi(argv[4]), (uint32_t)atoi(argv[5])};
  printf("rows %u k %lu tokens %u, one thread\n", shape.rows, (unsigned long)shape.k, shape.tokens);
  for (unsigned i = 0; i < numKernelLevels; ++i) {
    const NativeKernels &kernels = nativeKernels()[i];
    if (!cpuHasLevel(kernels.level) ||
        (argc > 1 && strcmp(argv[1], kernels.level) && strcmp(argv[1], "all")))
      continue;
    for (const FormatInfo &info : formatTable)
      if (kernels.matmul(info.format) && shape.k % info.blockLen == 0 &&
          (argc < 3 || !strcmp(argv[2], "all") || !strcmp(argv[2], info.name)))
        bench(kernels, info.format, shape);
  }
  return 0;
}
