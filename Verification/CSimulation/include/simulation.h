// The seam between a program and the system, for deterministic simulations on Linux.
//
// seam.c and files.c define functions of the C library (recv, epoll_wait, clock_gettime, open and others). The dynamic
// linker finds these definitions before those of the library. On a thread that has entered the simulation they are
// answered by the functions of `sim_system`; on every other thread they call the library.
#ifndef CSIMULATION_H
#define CSIMULATION_H
#ifdef __linux__
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sim_thread;

// What is known of a simulated file or folder.
struct sim_facts {
    int64_t number;
    int64_t size;
    // When it was written or touched, in seconds since 1970.
    int64_t time;
    int is_folder;
};

// The simulated system. Results of the calls are those of the C functions, except that a failure is returned as the
// negative errno.
struct sim_system {
    int (*open_socket)(int is_for_datagrams);
    int (*connect)(int descriptor, const unsigned char *address, int length, int port);
    int (*connect_local)(int descriptor, const char *path);
    int (*bind)(int descriptor, const unsigned char *address, int length);
    int (*listen)(int descriptor);
    int (*accept)(int descriptor);
    // The port at 127.0.0.1 at which a socket listens.
    int (*port)(int descriptor);
    int (*count_on_the_way)(int descriptor);
    ssize_t (*receive)(int descriptor, void *buffer, size_t count, int peeks);
    ssize_t (*send)(int descriptor, const void *buffer, size_t count);
    int (*shut_down)(int descriptor);
    // Sets SO_RCVLOWAT, with -1 SO_LINGER for a reset, or with 0 another option, which has no effect.
    int (*set_option)(int descriptor, int mark);
    int (*close)(int descriptor);
    int (*take_error)(int descriptor);
    int (*is_connected)(int descriptor);
    int (*watch)(int descriptor, void *token);
    int (*unwatch)(int descriptor);
    int (*wait)(void *events, int capacity, int milliseconds);
    uint64_t (*now)(void);
    // The seconds by which the clock that knows the date has been set.
    int64_t (*clock_shift)(void);
    uint64_t (*random)(void);
    // Fills at most `capacity` addresses of 16 bytes, IPv4 as ::ffff:a.b.c.d, of the family AF_INET, AF_INET6 or, for
    // AF_UNSPEC, of both. Returns their count, or the negative error of getaddrinfo.
    // Before, look_up_time says how many nanoseconds that takes.
    uint64_t (*look_up_time)(const char *name, int family);
    int (*look_up)(const char *name, int family, unsigned char *addresses, int capacity);
    void (*enqueue)(void *job);
    void (*enqueue_after)(uint64_t nanoseconds, void *job);
    int (*start_thread)(void *(*body)(void *), void *argument);
    // Calls sim_continue_thread later.
    void (*pause_thread)(struct sim_thread *thread, uint64_t nanoseconds);
    // Files below the folder of simulations, and their folders.
    int (*open_file)(const char *path, int creates, int is_exclusive, int appends);
    // How many nanoseconds the next read of a file takes; before each.
    uint64_t (*read_time)(int descriptor);
    // An offset of -1 means the position of the descriptor, which moves on.
    ssize_t (*read_file)(int descriptor, void *buffer, size_t count, int64_t offset);
    ssize_t (*write_file)(int descriptor, const void *bytes, size_t count, int64_t offset);
    int (*truncate_file)(int descriptor, int64_t size);
    int (*settle_file)(int descriptor);
    int (*lock_file)(int descriptor, int locks);
    int (*rename_file)(const char *path, const char *other);
    int (*remove_file)(const char *path);
    int (*touch_file)(int descriptor);
    int (*find_open_file)(int descriptor, struct sim_facts *facts);
    int (*find_file)(const char *path, struct sim_facts *facts);
    int (*make_folder)(const char *path);
    // Writes the path of an open folder. Returns its length.
    int (*name_folder)(int descriptor, char *path, int capacity);
    // Writes the name of a file of an open folder, by its place in the order of names. Returns its length, and 0 at the
    // end.
    int (*list_folder)(int descriptor, int place, char *name, int capacity);
};

// Installs the system. Call it once, before any simulation.
void sim_install(const struct sim_system *system);
// Makes this thread the simulation's, or an ordinary one again.
void sim_enter(int enters);
// Whether this program can simulate: whether its definitions are found before those of the C library.
int sim_is_effective(void);
// The first simulated descriptor: that of the readiness queue, before that of its alarm.
int sim_first_descriptor(void);
// The folder whose files are simulated. It may have folders, and these have none.
const char *sim_folder(void);
// Runs a job of Swift's global executor on this thread.
void sim_run_job(void *job);
// Runs the body of a thread that was started within the simulation, on this thread.
// It returns when the body has ended or has a call that takes its time: whether it has ended.
int sim_run_thread(void *(*body)(void *), void *argument);
int sim_continue_thread(struct sim_thread *thread);
// Sets the seed of random numbers outside of simulations.
void sim_seed_outside(uint64_t seed);
// Writes an entry of the array that epoll_wait fills.
void sim_put_event(void *events, int place, uint32_t mask, void *token);
// The number of SSL objects that exist, of those that were made within the simulation.
int64_t sim_live_connections(void);

// The bytes that malloc has given to the program (mallinfo2(3)).
size_t sim_used_memory(void);
// Counts what OpenSSL has from now on; before anything uses it. Returns whether that works.
int sim_watch_memory(void);
// The most bytes that OpenSSL has had for the client at a time, since the last call.
size_t sim_take_most(void);
// Begins or ends the work of a server, whose memory is not counted.
void sim_serve(int begins);
// The time of the system's own monotonic clock.
uint64_t sim_real_time(void);
// Runs the program again with deterministic hashing and without address randomisation, unless it has both.
void sim_make_deterministic(char **arguments);
// Lets malloc keep what a world has freed for the next one, instead of returning it to the system.
void sim_keep_freed_memory(void);

// TLS of simulated servers, on memory.
struct sim_tls;
// Replaces OpenSSL's random numbers by those of the seam.
void sim_seed_openssl(void);
// Makes a context; NULL if the certificate or the key is unusable.
void *sim_tls_context(const char *chain, const char *key);
// Lets all clients share what is decoded of an authority's certificate, as of those of servers.
void sim_tls_know(const unsigned char *bytes, size_t length);
// Sets the keys of session tickets, so that they differ between worlds and not between runs, and makes the private key as if
// it had never been used.
void sim_tls_renew(void *context, uint64_t seed);
struct sim_tls *sim_tls_new(void *context, int tickets, int highest_version_is_12, int tickets_are_large);
void sim_tls_free(struct sim_tls *tls);
// Gives the server bytes that have arrived.
void sim_tls_feed(struct sim_tls *tls, const void *bytes, size_t count);
// Reads decrypted bytes, performing the handshake first. Returns their count; 0 if more input is needed; -1 after
// close_notify; -2 after a failure.
int sim_tls_read(struct sim_tls *tls, void *buffer, int count);
// Encrypts bytes. Returns 1, or 0 after a failure.
int sim_tls_write(struct sim_tls *tls, const void *bytes, int count);
// Takes bytes to send. Returns their count.
int sim_tls_take(struct sim_tls *tls, void *buffer, int count);
// As sim_tls_take, but at most one record.
int sim_tls_take_record(struct sim_tls *tls, void *buffer, int count);
// Sends a close_notify.
void sim_tls_close(struct sim_tls *tls);
// Asks for new keys (TLS 1.3).
void sim_tls_update_keys(struct sim_tls *tls);
// The number of the version: 0x0303 for TLS 1.2, 0x0304 for TLS 1.3.
int sim_tls_version(struct sim_tls *tls);
int sim_tls_is_established(struct sim_tls *tls);
// Whether the client has resumed a session.
int sim_tls_is_resumed(struct sim_tls *tls);
// Asks the client for a certificate, of any issuer.
void sim_tls_ask(struct sim_tls *tls);
// Staples an OCSP response to the certificate, for a client that asks for one.
void sim_tls_staple(struct sim_tls *tls, const void *bytes, size_t count);
// The serial number of the client's certificate; 0 without one.
long sim_tls_client(struct sim_tls *tls);
// The server name that the client has sent; NULL if none. Valid until the next call.
const char *sim_tls_server_name(struct sim_tls *tls);

// Compresses bytes at a level of zlib, as gzip or, without `is_gzip`, as zlib. Returns their count, or 0 if the buffer is
// too small.
size_t sim_compress(const void *bytes, size_t count, int is_gzip, int level, void *buffer, size_t capacity);
#endif
#endif
