// Runs all checks of kernels, with any argument backwards (runtime.h); see checks.h for what is printed.
#include "runtime.h"

void checkBatchNorm();
void checkMaxPool();
void checkPictureConv();

int main(int count, char**) {
  emulated::backwards = count > 1;
  checkBatchNorm();
  checkMaxPool();
  checkPictureConv();
}
