/* SwiftPM wants a source in each target that is not a system library. Here the compiler reports missing or foreign
 * headers once, before any module that imports them. */

#include "openssl.h"
