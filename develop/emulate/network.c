/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "network.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/ini-text.h"
#include "util/paths.h"
#include "util/util.h"

#define NETWORK_BYTES_MAX 65536
#define KBPS_MAX 1e7
#define DELAY_MS_MAX 60000.0

struct parsing {
        struct network network;
        bool kind;
};

/* Up to @n numbers from 0 to @max with blanks between them, at least @least. 0; -EINVAL after its sentence. */
static int numbers(const struct ini_place *place, const char *key, const char *value, size_t least, size_t n,
                   double max, double *ret)
{
        char copy[INI_LINE_MAX + 1], *rest = copy, *word;
        size_t found = 0;
        int err = 0;

        snprintf(copy, sizeof(copy), "%s", value);
        while (!err && (word = strsep(&rest, " \t")))
                if (*word) {
                        if (found == n)
                                return ini_error(place, "%s has more than %zu numbers", key, n);
                        err = ini_number(place, key, word, 0, max, &ret[found]);
                        found++;
                }
        if (!err && found < least)
                return ini_error(place, "%s needs %zu numbers", key, least);
        return err;
}

static int take_name(const struct ini_place *place, const char *key, const char *value, char *ret)
{
        if (strlen(value) >= RADIO_NAME_MAX || strchr(value, '/'))
                return ini_error(place, "%s is not a name of a radio: %.60s", key, value);
        strcpy(ret, value);
        return 0;
}

static int take_way(struct network *network, const struct ini_place *place, const char *key, const char *value)
{
        double pair[2] = { 0, 0 };
        bool both = strcmp(key, "delay_ms") == 0, up = strncmp(key, "up", 2) == 0;
        int err;

        if (strcmp(key, "down_kbps") == 0 || strcmp(key, "up_kbps") == 0)
                return ini_number(place, key, value, 0, KBPS_MAX, &network->way[up ? RADIO_TX : RADIO_RX].kbps);
        err = numbers(place, key, value, 1, 2, DELAY_MS_MAX, pair);
        for (int i = 0; !err && i < RADIO_DIRECTIONS; i++)
                if (both || (i == RADIO_TX) == up) {
                        network->way[i].delay_ms = pair[0];
                        network->way[i].delay_sd_ms = pair[1];
                }
        return err;
}

static int take_loss(struct network *network, const struct ini_place *place, const char *value)
{
        double loss[4] = { 0, 0, 1, 0 };
        int err = numbers(place, "loss", value, 2, ARRAY_SIZE(loss), 1, loss);

        if (!err)
                network->loss = (struct network_loss){ loss[0], loss[1], loss[2], loss[3] };
        return err;
}

static int take_key(void *data, const struct ini_place *place, const char *section, const char *key, const char *value)
{
        struct parsing *parsing = data;
        struct network *network = &parsing->network;

        if (strcmp(section, "network") != 0)
                return ini_error(place, "[%.60s]: a network has the section [network] alone", section);
        if (strcmp(key, "kind") == 0) {
                parsing->kind = true;
                network->kind = strcmp(value, "wifi") == 0 ? NETWORK_WIFI : NETWORK_CELLULAR;
                if (strcmp(value, "wifi") != 0 && strcmp(value, "cellular") != 0)
                        return ini_error(place, "kind is wifi or cellular, not %.60s", value);
                return 0;
        }
        if (strcmp(key, "down_kbps") == 0 || strcmp(key, "up_kbps") == 0 || strcmp(key, "delay_ms") == 0 ||
            strcmp(key, "down_delay_ms") == 0 || strcmp(key, "up_delay_ms") == 0)
                return take_way(network, place, key, value);
        if (strcmp(key, "knot_ms") == 0)
                return ini_number(place, key, value, 1, DELAY_MS_MAX, &network->knot_ms);
        if (strcmp(key, "queue_ms") == 0)
                return ini_number(place, key, value, 0, DELAY_MS_MAX, &network->queue_ms);
        if (strcmp(key, "loss") == 0)
                return take_loss(network, place, value);
        if (strcmp(key, "radio") == 0)
                return take_name(place, key, value, network->radio);
        if (strcmp(key, "carrier") == 0)
                return take_name(place, key, value, network->carrier);
        if (strcmp(key, "source") == 0) {
                snprintf(network->source, sizeof(network->source), "%s", value);
                return 0;
        }
        return ini_error(place, "%.60s is no key of a network; there are kind, down_kbps, up_kbps, delay_ms, "
                         "down_delay_ms, up_delay_ms, knot_ms, queue_ms, loss, radio, carrier and source", key);
}

/* Mean of a normal law whose values below 0 count as 0. */
static double clamped_mean(double mean, double sd)
{
        double z = mean / sd;

        return mean * 0.5 * erfc(-z / M_SQRT2) + sd * exp(-z * z / 2) / sqrt(2 * M_PI);
}

double network_draw_ms(double mean_ms, double sd_ms)
{
        double low = mean_ms - 10 * sd_ms - 1, high = mean_ms;

        if (!(sd_ms > 0))
                return mean_ms;
        for (int i = 0; i < 60; i++) {
                double middle = (low + high) / 2;

                *(clamped_mean(middle, sd_ms) < mean_ms ? &low : &high) = middle;
        }
        return high;
}

int network_parse(const char *text, size_t length, const char *name, const struct log *log, struct network *ret)
{
        struct ini_place whole = { name, 0, log };
        struct parsing parsing = { .network.knot_ms = 1000 };
        struct network *network = &parsing.network;
        int err = ini_text_parse(text, length, name, log, take_key, &parsing);

        if (err)
                return err;
        if (!parsing.kind)
                return ini_error(&whole, "kind is missing: wifi or cellular");
        for (int i = 0; i < RADIO_DIRECTIONS; i++) {
                const struct network_way *way = &network->way[i];

                if (way->delay_sd_ms > network->knot_ms / 4)
                        return ini_error(&whole,
                                         "a delay that varies by %g ms needs knot_ms = %g or more, "
                                         "as packets would overtake each other",
                                         way->delay_sd_ms, 4 * way->delay_sd_ms);
        }
        *ret = *network;
        return 0;
}

/* Name of the network in a file: the last part of the path, up to its first dot. */
static void name_of(const char *path, char *ret)
{
        const char *base = util_base_name(path);

        snprintf(ret, RADIO_NAME_MAX, "%.*s", (int)MIN(strcspn(base, "."), (size_t)RADIO_NAME_MAX - 1), base);
}

int network_load(const char *name, const struct log *log, struct network *ret)
{
        _cleanup_free_ char *folder = NULL, *path = NULL, *text = NULL;
        char printable[96];
        size_t length;
        int err;

        if (paths_data("networks", &folder) == 0 && asprintf(&path, "%s/%s.ini", folder, name) < 0)
                return -ENOMEM;
        if (!path || strchr(name, '/') || access(path, F_OK) < 0) {
                free(path);
                path = strdup(name);
        }
        if (!path)
                return -ENOMEM;
        if (access(path, F_OK) < 0) {
                log_error(log, "there is no network %s; use 3g-good, 3g-average, 3g-poor, lte, wifi or a file",
                          util_printable(name, printable, sizeof(printable)));
                return -ENOENT;
        }
        err = ini_text_read(path, NETWORK_BYTES_MAX, log, &text, &length);
        if (!err)
                err = network_parse(text, length, path, log, ret);
        if (!err)
                name_of(path, ret->name);
        return err;
}
