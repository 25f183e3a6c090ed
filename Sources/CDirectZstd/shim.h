// Without the library's headers the module is empty. It is imported with the trait Zstd only, but tools such as
// `swift package dump-symbol-graph` build every module.
#if __has_include(<zstd.h>)
#include <zstd.h>
#include <zstd_errors.h>
#endif
