// A program built for AVX2 that is started on a processor without it would die of SIGILL, possibly before
// main. This runs first and says what is wrong instead. The file itself is compiled for any x86-64
// (CMakeLists.txt).
#ifdef FUSELAGE_NEEDS_AVX2

#include <unistd.h>

#include <cstddef>

namespace {

constexpr char message[] =
    "fuselage: error: this program was built with -march=" FUSELAGE_MARCH
    ", and this processor lacks AVX2, FMA or BMI2; expected one that has them, or a build "
    "with -DFUSELAGE_MARCH=x86-64-v2\n";

// 101 is the first priority that programs may use: before every other constructor of this program.
__attribute__((constructor(101))) void check_machine() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
    return;
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, message, sizeof message - 1);
  ::_exit(3);
}

}  // namespace

#endif

// Named on the linker's command line, so that this file is part of every program.
extern "C" const int fuselage_machine_checked;
extern "C" const int fuselage_machine_checked = 1;
