/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Pauses: the device is given back until it may be held again. */

#include "run.h"

#include <errno.h>
#include <string.h>

#include "util/units.h"

/* After two hours the user probably needs the machine; the run can be resumed. */
#define PAUSE_MAX_S 7200.0
#define PAUSE_POLL_S 10.0

static void tell(const struct run *run, const char *reason)
{
        struct progress_state state = run_state(run);

        progress_paused(run->progress, &state, reason);
}

static int wait_passed(struct run *run)
{
        struct runner *runner = &run->runner;
        uint64_t since_ns = runner->look.at_ns;
        char told[sizeof(runner->reason)] = "";

        while (runner->hindrance == -EAGAIN) {
                int err;

                if (strcmp(told, runner->reason) != 0)
                        tell(run, runner->reason);
                memcpy(told, runner->reason, sizeof(told));
                if ((double)(runner->look.at_ns - since_ns) > PAUSE_MAX_S * (double)NS_PER_S)
                        return -ETIMEDOUT;
                err = runner_wait_aside(runner, PAUSE_POLL_S);
                if (err)
                        return err;
        }
        return runner->hindrance;
}

int run_pause(struct run *run)
{
        const struct hardware_ops *ops = run->hardware->ops;
        int err;

        runner_pause(&run->runner);
        err = ops->restore(run->hardware);
        if (!err)
                err = wait_passed(run);
        if (!err && ops->begin)
                err = ops->begin(run->hardware);
        if (err)
                return err;
        runner_go_on(&run->runner);
        tell(run, NULL);
        return 0;
}
