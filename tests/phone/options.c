/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>

#include "util/util.h"

void options_usage(FILE *file)
{
        fputs("usage: physics --device FILE --qtest SOCKET --control SOCKET [options]\n"
              "The energy that a virtual phone draws, and what its gauge shows of it.\n"
              "  --device FILE     virtual device (docs/physics.md); [virtual] x-factor = N accelerates it\n"
              "  --qtest SOCKET    QEMU's -qtest unix:SOCKET,server=on,wait=off; it needs -name NAME,debug-threads=on\n"
              "  --qmp SOCKET      a -qmp socket of its own: bytes of the disks; without it there is no disk\n"
              "  --radio FILE      JSON lines of what crossed the air; without it the radio is off\n"
              "  --control SOCKET  made here; JSON lines in, an answer for each:\n"
              "                    {\"cmd\": \"truth\"} joules since mark, \"mark\", \"coefficients\" (what a perfect\n"
              "                    calibration finds), \"status\", \"quit\",\n"
              "                    {\"cmd\": \"set\", \"charger\": true|false|WATTS, \"battery\": true|false,\n"
              "                    \"percent\": N, \"ppc\": INDEX, \"gauge\": \"works|stuck|missing|zero\", "
              "\"temperature\": C|null,\n"
              "                    \"registers\": {\"BREM\": N|null}, \"event\": BITS}\n"
              "  --state FILE      the charge lives there, across power cuts\n"
              "  --percent N       charge to begin with (default 90), where there is no state\n"
              "  --factor N        acceleration: everything draws N times as much, N times as fast\n"
              "  --seed N          of the noise (default 1); each start of a state adds 1\n"
              "  --wake-us N       what the emulation takes to wake a CPU, and a chip does not (default 400)\n"
              "  --charge          the gauge counts mAh, not mWh; the device needs a voltage curve\n"
              "  --no-throttle     the phone's CPUs keep their speed; their frequency changes the power only\n",
              file);
}

static int parse_number(const char *text, double min, double max, double *ret)
{
        return util_parse_double(text, ret) == 0 && *ret >= min && *ret <= max ? 0 : -EINVAL;
}

int options_parse(int argc, char **argv, struct options *options)
{
        static const struct option list[] = {
                { "device", required_argument, NULL, 'd' }, { "qtest", required_argument, NULL, 'q' },
                { "qmp", required_argument, NULL, 'm' },    { "radio", required_argument, NULL, 'r' },
                { "control", required_argument, NULL, 'c' }, { "state", required_argument, NULL, 's' },
                { "percent", required_argument, NULL, 'p' }, { "factor", required_argument, NULL, 'f' },
                { "seed", required_argument, NULL, 'n' },   { "no-throttle", no_argument, NULL, 't' },
                { "charge", no_argument, NULL, 'a' },       { "wake-us", required_argument, NULL, 'w' },
                { "help", no_argument, NULL, 'h' },         { 0 },
        };
        int option, err = 0;

        while (!err && (option = getopt_long(argc, argv, "h", list, NULL)) != -1) {
                switch (option) {
                case 'd': options->device = optarg; break;
                case 'q': options->qtest = optarg; break;
                case 'm': options->qmp = optarg; break;
                case 'r': options->radio = optarg; break;
                case 'c': options->control = optarg; break;
                case 's': options->state = optarg; break;
                case 'p': err = parse_number(optarg, 0, 100, &options->percent); break;
                case 'f': err = parse_number(optarg, 1, 1000, &options->factor); break;
                case 'n': err = util_parse_u64(optarg, &options->seed); break;
                case 'w': err = parse_number(optarg, 0, 10000, &options->wake_us); break;
                case 'a': options->charge = true; break;
                case 't': options->no_throttle = true; break;
                case 'h': options_usage(stdout); exit(0);
                default: err = -EINVAL;
                }
        }
        return err || optind < argc || !options->device || !options->qtest || !options->control ? -EINVAL : 0;
}

int state_load(struct options *options, const struct log *log)
{
        char text[256];
        unsigned long long starts;
        double percent;
        ssize_t n = options->state ? util_read_at(AT_FDCWD, options->state, text, sizeof(text)) : -ENOENT;

        if (n == -ENOENT)
                return 0;
        if (n < 0 || sscanf(text, "percent = %lf\nstarts = %llu", &percent, &starts) != 2 ||
            !(percent >= 0 && percent <= 100)) {
                log_error(log, "%s: no state of a virtual phone; remove it to begin anew", options->state);
                return n < 0 ? (int)n : -EINVAL;
        }
        options->percent = percent;
        options->seed += starts;
        options->starts = starts;
        return 0;
}

int state_save(const struct options *options, struct world *world)
{
        char text[256];
        int n;

        if (!options->state)
                return 0;
        n = snprintf(text, sizeof(text), "percent = %.17g\nstarts = %llu\n", world_percent(world),
                     (unsigned long long)options->starts + 1);
        return util_write_file(options->state, text, (size_t)n, 0644);
}
