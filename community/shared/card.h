/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A card is what a device shares of its power model: coefficients with their
 * errors, and the names of its model, CPU, panel and radio. It is a profile
 * (joulecast-profile(5)) with few of a profile's keys: no apps, no times, no
 * match. What a pool of cards says is a profile, too.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/profile.h"
#include "util/log.h"

#define CARD_BYTES_MAX (256u << 10)
#define POOL_BYTES_MAX (4u << 20) /* it has a covariance for each pair of its coefficients */
#define CARD_NAME_SIZE 96
#define CARD_FILE_SIZE 96
#define CARD_SUFFIX "-profile.ini" /* end of the name of a client's card in a folder */

/* By what devices are alike. Of all but the model, only the coefficients of one
 * component are alike. */
enum card_part { CARD_MODEL, CARD_CPU, CARD_PANEL, CARD_RADIO, CARD_PARTS };

struct card_names {
        char of[CARD_PARTS][CARD_NAME_SIZE]; /* "": unknown */
};

extern const char *const card_words[CARD_PARTS]; /* "model" ... */

/* Is a coefficient of this term alike where this part is? */
bool card_has_term(enum card_part part, enum term term);

/*
 * May a part be called so? No: the text is empty, has other signs than a name
 * has, is what a board says that was given no name, or looks like a serial
 * number.
 */
bool card_is_name(const char *name);

/* The name of the file of a pool: "cpu-NAME-HASH.ini". */
void card_file(enum card_part part, const char *name, char ret[CARD_FILE_SIZE]);

/**
 * card_make() - the card of a device
 * @profile: its power model
 * @ret:     the text; free() it
 *
 * Numbers are rounded to four digits. Of a profile that was no calibration,
 * only coefficients are in it of which everyday use at least halved the error:
 * the rest came from others. Return: 0; -ENODATA: nothing of it is the device's
 * own; -ENOMEM; another negative errno.
 */
int card_make(const struct profile *profile, const struct card_names *names, char **ret);

/*
 * Reads a file that others can write: no link, no pipe, not more than @most
 * bytes. @since_s: when it was changed; may be NULL. @ret: free() it.
 * 0; -ENOENT; -EFBIG; -EINVAL: it is no file; another negative errno.
 */
int card_read_file(int folder_fd, const char *name, size_t most, int64_t *since_s, char **ret, size_t *ret_length);
/* Policies of @to become as others, as in @from, where those have coefficients. 0; a negative errno. */
int card_copy_as(const struct profile *from, struct profile *to);
/* Writes a file of a device's card; a changed one is as old as the first. 0; a negative errno. */
int card_write_file(const char *path, const char *text, unsigned mode);
/* Reads a card or a pool, by the limits of a profile. 0; -EINVAL after a
 * sentence; -ENOMEM. @name: for the sentence. */
int card_read(const char *text, size_t length, const char *name, const struct log *log, struct profile **ret);
/* The name of a part in a card; "" where it is unknown or no name. */
const char *card_name(const struct profile *card, enum card_part part);
