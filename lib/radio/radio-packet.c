/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "radio-run.h"
#include "util/util.h"

int radio_packet_parse(char *line, struct radio_packet *ret, enum radio_direction *direction)
{
        char *rest = line, *time = strsep(&rest, ","), *way = strsep(&rest, ","), *size = strsep(&rest, ",");
        double seconds;
        uint64_t bytes;
        int err;

        if (!size || rest || (strcmp(way, "tx") != 0 && strcmp(way, "rx") != 0))
                return -EINVAL;
        err = util_parse_double(time, &seconds);
        if (err == -ENOMEM)
                return err;
        if (err || !(seconds >= 0 && seconds <= RADIO_SECONDS_MAX) || util_parse_u64(size, &bytes) < 0 ||
            bytes > RADIO_BYTES_MAX)
                return -EINVAL;
        *ret = (struct radio_packet){ llround(seconds * 1e9), bytes };
        *direction = strcmp(way, "tx") == 0 ? RADIO_TX : RADIO_RX;
        return 0;
}
