// glibc 2.35 gave hypotf a new version, which older systems lack. Swift's overlay of the C library refers to it;
// watchrun never calls it.
float hypotf(float x, float y) {
  return (float)__builtin_sqrt((double)x * x + (double)y * y);
}
