// How much memory a world leaves behind. See simulation.h.
#ifdef __linux__
#include "simulation.h"
#include <malloc.h>

size_t sim_used_memory(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}
#endif
