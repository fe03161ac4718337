/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Parses the keys for packets, and for the parts that a segment uses (GPS, audio, camera). */

#include "scenario-packets.h"

#include <string.h>

#include "util/util.h"

/* Parses one of several words to its index. */
static int parse_choice(const struct ini_place *place, const char *key, const char *value, const char *const *words,
                        size_t n, unsigned *ret)
{
        char all[64] = "";

        for (unsigned i = 0; i < n; i++) {
                if (strcmp(value, words[i]) == 0) {
                        *ret = i;
                        return 0;
                }
                snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s",
                         i == 0 ? "" : i + 1 < n ? ", " : " or ", words[i]);
        }
        return ini_error(place, "%s = %.60s is unknown; it may be %s", key, value, all);
}

static int parse_whole(const struct ini_place *place, const char *key, const char *value, uint32_t most, uint32_t *ret)
{
        uint64_t number;

        if (util_parse_u64(value, &number) < 0 || number == 0 || number > most)
                return ini_error(place, "%s = %.60s is not a whole number from 1 to %u", key, value, most);
        *ret = (uint32_t)number;
        return 0;
}

static int parse_switch(const struct ini_place *place, const char *key, const char *value, bool *ret)
{
        static const char *const words[] = { "off", "on" };
        unsigned choice = 0;
        int err = parse_choice(place, key, value, words, ARRAY_SIZE(words), &choice);

        *ret = choice == 1;
        return err;
}

int scenario_parse_packets(const struct ini_place *place, const char *key, const char *value, struct virtual_work *work)
{
        static const char *const patterns[VIRTUAL_PATTERNS] = { "steady", "poisson", "bursts" };
        static const char *const radios[AIR_COUNT] = { "wifi", "cellular" };
        unsigned choice = 0;
        int err;

        if (strcmp(key, "packets_per_s") == 0)
                return ini_number(place, key, value, 0, VIRTUAL_PACKETS_MAX_PER_S, &work->packets_per_s);
        if (strcmp(key, "packet_bytes") == 0)
                return parse_whole(place, key, value, VIRTUAL_PACKET_BYTES_MAX, &work->packet_bytes);
        if (strcmp(key, "burst_packets") == 0)
                return parse_whole(place, key, value, VIRTUAL_BURST_MAX, &work->burst_packets);
        if (strcmp(key, "gps") == 0)
                return parse_switch(place, key, value, &work->gps);
        if (strcmp(key, "audio") == 0)
                return parse_switch(place, key, value, &work->audio);
        if (strcmp(key, "camera") == 0)
                return parse_switch(place, key, value, &work->camera);
        if (strcmp(key, "pattern") == 0) {
                err = parse_choice(place, key, value, patterns, VIRTUAL_PATTERNS, &choice);
                work->pattern = (enum virtual_pattern)choice;
                return err;
        }
        err = parse_choice(place, key, value, radios, AIR_COUNT, &choice);
        work->radio = (enum air)choice;
        return err;
}
