// Runs all checks of kernels; see checks.h for what is printed.
void checkBatchNorm();
void checkMaxPool();
void checkPictureConv();

int main() {
  checkBatchNorm();
  checkMaxPool();
  checkPictureConv();
}
