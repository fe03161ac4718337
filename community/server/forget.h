/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Removing clients, and excluding clients from reports (quarantine). */

#include "database.h"

struct forgotten {
        int64_t samples, apps; /* how much of it was stored */
};

/**
 * forget_client() - remove all stored data of a client, within a transaction of the caller
 * @hex: 32 digits
 * @ret: how much there was; may be NULL
 *
 * Return: 1: it is removed; 0: there was nothing; a negative errno.
 */
int forget_client(struct database *database, const char *hex, struct forgotten *ret);

/*
 * Excludes a client's past and future samples from reports, or includes them again. Returns 1; 0: there is no
 * such client.
 */
int forget_quarantine(struct database *database, const char *hex, bool quarantined);
