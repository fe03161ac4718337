/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The network load of a calibration, driven by lines on standard input for test-traffic-load:
 * "set RX TX WAKES BYTES", "tend". Each is answered by its result. Arguments: PROGRAM INTERFACE
 * URL PEER, where "-" is none.
 */

#include "hardware/traffic-load.h"
#include "util/log.h"
#include "util/util.h"

#include <signal.h>
#include <string.h>

static const char *given(const char *argument)
{
        return strcmp(argument, "-") ? argument : NULL;
}

int main(int argc, char **argv)
{
        static char name[] = "driver";
        const struct log log = { .handler = log_to_stderr, .data = name };
        struct traffic_load *load = NULL;
        char line[256];
        int err;

        if (argc != 5)
                return 2;
        signal(SIGPIPE, SIG_IGN);
        err = traffic_load_open(&(struct traffic_where){ argv[1], argv[2], given(argv[3]), given(argv[4]) },
                                &log, &load);
        printf("%d\n", err);
        while (!err && fflush(stdout) == 0 && fgets(line, sizeof(line), stdin)) {
                struct traffic_job job = { 0 };
                double most = 0;

                if (sscanf(line, "set %lf %lf %lf %lf", &job.rx_bytes_per_s, &job.tx_bytes_per_s,
                           &job.wakes_per_s, &most) == 4)
                        printf("%d\n", traffic_load_set(load, &job, most));
                else
                        printf("%d\n", traffic_load_tend(load));
        }
        traffic_load_close(load);
        return 0;
}
