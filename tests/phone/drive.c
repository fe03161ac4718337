/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Holds this machine in modes, by lines on standard input, for steps that are about one component and not
 * about a night: "mode RX TX WAKES READ WRITE" with the radio on, MB/s and bursts a second; "off", the same
 * without any WiFi; "look" at what the parts think; "end". Each line is answered by its result; what is said
 * to people goes to standard error. Arguments: JOURNAL [disk=FOLDER] [url=URL] [peer=HOST:PORT]
 * [wifi-limit=BYTES] [write-limit=BYTES]
 */

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hardware/hardware.h"
#include "util/log.h"

static void parse(int argc, char **argv, struct machine_hardware *machine, const char **disk,
                  double *wifi_limit_bytes)
{
        for (int i = 2; i < argc; i++) {
                const char *value = strchr(argv[i], '=');

                value = value ? value + 1 : "";
                if (!strncmp(argv[i], "disk=", 5))
                        *disk = value, machine->n_disks = 1;
                else if (!strncmp(argv[i], "url=", 4))
                        machine->wifi_url = value;
                else if (!strncmp(argv[i], "peer=", 5))
                        machine->wifi_peer = value;
                else if (!strncmp(argv[i], "wifi-limit=", 11))
                        *wifi_limit_bytes = atof(value);
                else if (!strncmp(argv[i], "write-limit=", 12))
                        machine->write_limit_bytes = atof(value);
        }
}

static int obey(struct hardware *hardware, const char *line)
{
        struct mode mode = { .name = "phone", .kind = "mixed", .wifi_on = true };
        struct sample sample = { 0 };
        int err;

        if (sscanf(line, "mode %lf %lf %lf %lf %lf", &mode.rx_mb_per_s, &mode.tx_mb_per_s, &mode.wakes_per_s,
                   &mode.read_mb_per_s, &mode.write_mb_per_s) == 5)
                return hardware->ops->apply(hardware, &mode);
        if (!strncmp(line, "off", 3)) {
                mode.wifi_on = false;
                return hardware->ops->apply(hardware, &mode);
        }
        err = hardware->ops->read(hardware, &sample);
        sample_clear(&sample);
        return err;
}

int main(int argc, char **argv)
{
        static char name[] = "drive";
        const struct log log = { .handler = log_to_stderr, .data = name };
        struct machine_hardware machine = { .write_limit_bytes = INFINITY, .log = &log };
        struct hardware_description description;
        struct hardware *hardware = NULL;
        const char *disk = NULL;
        double wifi_limit_bytes = INFINITY;
        char line[256];
        int err;

        if (argc < 2)
                return 2;
        machine.journal = argv[1];
        machine.disks = &disk;
        signal(SIGPIPE, SIG_IGN);
        setvbuf(stdout, NULL, _IOLBF, 0);
        parse(argc, argv, &machine, &disk, &wifi_limit_bytes);
        err = hardware_machine_open(&machine, &hardware);
        if (!err)
                err = hardware->ops->describe(hardware, &description);
        if (!err)
                printf("disks=%zu wifi=%d rx=%d tx=%d\n", description.n_disks, description.wifi,
                       description.wifi_rx, description.wifi_tx);
        if (!err)
                hardware->ops->limit_air(hardware, AIR_WIFI, wifi_limit_bytes);
        if (!err && hardware->ops->begin)
                err = hardware->ops->begin(hardware);
        printf("%d\n", err);
        while (!err && fgets(line, sizeof(line), stdin) && strncmp(line, "end", 3))
                printf("%d\n", obey(hardware, line));
        if (hardware)
                hardware->ops->close(hardware);
        return err ? 1 : 0;
}
