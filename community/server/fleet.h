/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Profiles that devices shared (shared/card.h), and what they say of a model, a
 * CPU, a panel or a radio together. */

#include "shared/card.h"
#include "shared/upload.h"

#define FLEET_DEVICES_MIN 5
#define FLEET_NETWORKS_MIN 3
#define FLEET_AGE_S (7 * 24 * 3600)
#define FLEET_CARDS_MAX 200000

struct fleet_card {
        char client[UPLOAD_CLIENT_DIGITS + 1];
        unsigned network; /* index below fleet.networks */
        int64_t since_s;  /* the file is there since then */
        struct profile *card;
};

struct fleet {
        struct fleet_card *cards; /* each client once, by client */
        size_t n, capacity;
        unsigned networks;
        uint64_t young, twice, bad, quarantined; /* so many files are left out, by reason */
};

/**
 * fleet_read() - reads FOLDER/CLIENT-profile.ini and
 * FOLDER/NETWORK/CLIENT-profile.ini
 * @edition_s: when the edition begins; younger files are left out
 *
 * Files in FOLDER itself are of one network. Links are not followed. Return: 0;
 * a negative errno after a sentence.
 */
int fleet_read(const char *folder, int64_t edition_s, const struct log *log, struct fleet *ret);
void fleet_clear(struct fleet *fleet);

/**
 * fleet_pool() - what the cards of one group say together
 * @group: cards of devices that are alike in @part; its order does not matter
 * @ret:   a profile; each standard error is that of a further device of the
 * group. profile_free() it
 *
 * Return: 0; -ENODATA: too few devices or networks share a coefficient; another
 * negative errno.
 */
int fleet_pool(const struct fleet_card *const *group, size_t n, enum card_part part, struct profile **ret);

/* `joulecast-community pool`: reads @folder and writes the pools into @output.
 * 0; a negative errno after a sentence. */
int fleet_write(const char *folder, const char *output, int64_t edition_s, bool json, const struct log *log);

/* The last Monday, 0:00 UTC, at or before @now_s. */
int64_t fleet_edition(int64_t now_s);
int pool_main(int argc, char **argv);
