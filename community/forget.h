/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Clients that go, or that nobody believes any more. */

#include "database.h"

struct forgotten {
        int64_t samples, apps; /* that were kept of it */
};

/**
 * forget_client() - remove all that is kept of a client, within a transaction of the caller
 * @hex: 32 digits
 * @ret: what there was; may be NULL
 *
 * Return: 1: it is gone; 0: there was nothing; a negative errno.
 */
int forget_client(struct database *database, const char *hex, struct forgotten *ret);

/* Its samples count no more, those that are there neither; or they do again. 1; 0: there is no such client. */
int forget_quarantine(struct database *database, const char *hex, bool quarantined);
