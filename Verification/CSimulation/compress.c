// Coded content of simulated servers. See simulation.h.
#ifdef __linux__
#include "simulation.h"
#include <zlib.h>

size_t sim_compress(const void *bytes, size_t count, int is_gzip, int level, void *buffer, size_t capacity) {
    z_stream stream = {0};
    if (deflateInit2(&stream, level, Z_DEFLATED, is_gzip ? 31 : 15, 8, Z_DEFAULT_STRATEGY) != Z_OK) return 0;
    stream.next_in = (Bytef *)bytes;
    stream.avail_in = (uInt)count;
    stream.next_out = buffer;
    stream.avail_out = (uInt)capacity;
    int result = deflate(&stream, Z_FINISH);
    deflateEnd(&stream);
    return result == Z_STREAM_END ? capacity - stream.avail_out : 0;
}
#endif
