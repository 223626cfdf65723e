// As a kernel includes it; see runtime.h.
#include "runtime.h"
