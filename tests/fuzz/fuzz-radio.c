/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "fuzz.h"
#include "radio/radio-run.h"
#include "util/util.h"

/*
 * Radios, a line "---", and rows of packets. For any input the state times sum to the whole time, no energy is
 * negative, and reading in between changes nothing.
 */

#define UNTIL_NS INT64_C(3600000000000)

static int on_key(void *data, const struct ini_place *place, const char *section, const char *key, const char *value)
{
        size_t length = strcspn(section, " ");
        char name[INI_LINE_MAX];

        snprintf(name, sizeof(name), "%.*s", (int)length, section);
        if (strcmp(name, "radio") != 0 && strcmp(name, "carrier") != 0)
                return ini_error(place, "[%.60s] is no radio", section);
        return radio_parse_key(data, place, name, section + length, key, value);
}

static void play(const struct radio *radio, const char *rows, bool ask, struct radio_run *run)
{
        _cleanup_free_ char *text = strdup(rows);
        char *rest = text;
        int64_t before_ns = 0;

        fuzz_assert(text && radio_run_start(run, radio, RADIO_SIGNAL_MEDIUM) == 0);
        for (char *line; (line = strsep(&rest, "\n"));) {
                enum radio_direction direction;
                struct radio_packet packet;

                if (radio_packet_parse(line, &packet, &direction) < 0 || packet.time_ns < before_ns ||
                    packet.time_ns >= UNTIL_NS)
                        continue;
                if (ask)
                        fuzz_assert(radio_run_until(run, before_ns + (packet.time_ns - before_ns) / 3) == 0);
                fuzz_assert(radio_run_packet(run, packet.time_ns, direction, packet.bytes) == 0);
                before_ns = packet.time_ns;
        }
        fuzz_assert(radio_run_until(run, UNTIL_NS) == 0);
}

static void run_radio(const struct radio *radio, const char *rows)
{
        _cleanup_(radio_run_clear) struct radio_run once = { 0 }, asked = { 0 };
        int64_t ns = 0;

        play(radio, rows, false, &once);
        play(radio, rows, true, &asked);
        for (size_t i = 0; i < radio->n_states; i++) {
                ns += once.totals[i].ns;
                fuzz_assert(once.totals[i].ns >= 0 && once.totals[i].fj >= 0);
                fuzz_assert(once.totals[i].ns == asked.totals[i].ns && once.totals[i].fj == asked.totals[i].fj);
        }
        fuzz_assert(ns == UNTIL_NS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(radio_clear_all) struct radios radios = { 0 };
        _cleanup_free_ char *text = strndup((const char *)data, size);
        struct ini_place place = { "fuzz", 0, NULL };
        char *rows = strstr(text, "---\n");

        if (!rows)
                return 0;
        if (ini_text_parse(text, (size_t)(rows - text), "fuzz", NULL, on_key, &radios) < 0 ||
            radio_finish(&radios, &place) < 0)
                return 0;
        for (size_t i = 0; i < radios.n; i++)
                run_radio(&radios.list[i], rows + strlen("---\n"));
        for (size_t i = 0; i < radios.n_carriers; i++) {
                _cleanup_(radio_clear) struct radio radio = { 0 };

                fuzz_assert(radio_with_carrier(&radios, radios.carriers[i].radio, radios.carriers[i].name,
                                               &radio) == 0);
                run_radio(&radio, rows + strlen("---\n"));
        }
        return 0;
}
