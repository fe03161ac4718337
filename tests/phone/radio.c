/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "radio.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>

#include "util/util.h"

#define SILENCE_S 1.0 /* before a burst of packets that wakes the radio: the model's definition */

void radio_open(struct phone_radio *radio, const char *path)
{
        *radio = (struct phone_radio){ .path = path, .fd = -1, .last_burst_s = -INFINITY };
}

void radio_close(struct phone_radio *radio)
{
        closep(&radio->fd);
        radio->fd = -1;
}

static bool get(const cJSON *json, const char *name, double *ret)
{
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, name);

        if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0))
                return false;
        *ret = item->valuedouble;
        return true;
}

/* Growth of a counter since the last message; counters restart with the phone. */
static uint64_t grown(uint64_t *total, double now, bool heard)
{
        uint64_t value = (uint64_t)now, grown = heard && value >= *total ? value - *total : 0;

        *total = value;
        return grown;
}

int radio_take(struct phone_radio *radio, const char *line)
{
        cJSON *json = cJSON_Parse(line);
        double at_s, rx, tx;
        uint64_t new_rx, new_tx;
        bool good = get(json, "at", &at_s) && get(json, "rx_bytes", &rx) && get(json, "tx_bytes", &tx);

        if (good)
                radio->associated = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "associated"));
        cJSON_Delete(json);
        if (!good)
                return -EPROTO;
        new_rx = grown(&radio->rx_total, rx, radio->heard);
        new_tx = grown(&radio->tx_total, tx, radio->heard);
        if (new_rx > 0 || new_tx > 0) {
                radio->wakes += at_s - radio->last_burst_s >= SILENCE_S;
                radio->last_burst_s = at_s;
        }
        radio->rx_bytes += new_rx;
        radio->tx_bytes += new_tx;
        radio->at_s = at_s;
        radio->heard = true;
        return 0;
}

static int take_lines(struct phone_radio *radio)
{
        char *line = radio->text, *end;
        int err = 0;

        while (!err && (end = memchr(line, '\n', radio->length - (size_t)(line - radio->text)))) {
                *end = '\0';
                err = radio_take(radio, line);
                line = end + 1;
        }
        radio->length -= (size_t)(line - radio->text);
        memmove(radio->text, line, radio->length);
        return !err && radio->length == sizeof(radio->text) ? -EPROTO : err;
}

int radio_look(struct phone_radio *radio)
{
        int err = 0;

        if (!radio->path)
                return 0;
        if (radio->fd < 0)
                radio->fd = open(radio->path, O_RDONLY | O_CLOEXEC);
        if (radio->fd < 0)
                return errno == ENOENT ? 0 : -errno;
        while (!err) {
                ssize_t n = read(radio->fd, radio->text + radio->length, sizeof(radio->text) - radio->length);

                if (n <= 0)
                        return n < 0 ? -errno : 0;
                radio->length += (size_t)n;
                err = take_lines(radio);
        }
        return err;
}
