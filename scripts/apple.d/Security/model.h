/* How a test sets up the model of Apple's trust store (model.c). Certificates are in DER and are copied. */
#ifndef DIRECT_SECURITY_MODEL_CONTROL_H
#define DIRECT_SECURITY_MODEL_CONTROL_H

#include <stddef.h>
#include <stdint.h>

/* Makes a certificate a trusted root: of the system, or installed by the user or a company. */
void model_trust(const uint8_t *der, size_t count);
/* Puts a certificate where it can be fetched from the network. */
void model_publish(const uint8_t *der, size_t count);
/* Forgets all certificates. */
void model_forget(void);

/* How often a trust was evaluated, and how many objects exist that have not been released. */
long model_evaluations(void);
long model_objects(void);
/* Whether the last policy had a name. */
int model_was_named(void);

/* Lets the call that makes the object after so many others fail; -1 lets all succeed. */
void model_fail_after(long count);

#endif
