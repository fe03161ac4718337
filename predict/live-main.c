/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* joulecast-live: commands of `joulecast` that need collectors, a terminal or the bus. `joulecast` starts it. */

#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "desktop/plan-bus.h"
#include "live.h"
#include "notify-user.h"
#include "options.h"
#include "program.h"
#include "util/util.h"
#include "util/words.h"

static const struct {
        const char *name;
        int (*main)(int argc, char **argv);
} commands[] = {
        { "advise", advise_main }, { "doctor", doctor_main }, { "top", top_main },
        { "trace", trace_main },   { "warn", warn_main },
};

static const char *thrifty_profile(void)
{
        struct plan_bus *bus = NULL;
        const char *thrifty = NULL;
        char now[128];

        if (plan_bus_open(&bus) < 0)
                return NULL;
        thrifty = plan_bus_thrifty(bus);
        if (thrifty && plan_bus_read_power_profile(bus, now, sizeof(now)) == 0 && strcmp(now, thrifty) == 0)
                thrifty = NULL;
        plan_bus_close(bus);
        return thrifty;
}

const struct live live = { notify_user, thrifty_profile };

int main(int argc, char **argv)
{
        util_hold_standard_fds();
        util_end_on_shorter_files();
        words_start();
        for (size_t i = 0; argc > 1 && i < ARRAY_SIZE(commands); i++)
                if (strcmp(argv[1], commands[i].name) == 0)
                        return options_finish(commands[i].main(argc - 1, argv + 1), &program_log);
        log_error(&program_log, "joulecast-live is started by joulecast; see joulecast --help");
        return CODE_USAGE;
}
