// Without the library's headers the module is empty. It is imported with the trait Brotli only, but tools such as
// `swift package dump-symbol-graph` build every module.
#if __has_include(<brotli/decode.h>)
#include <brotli/decode.h>
#endif
