/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "limit-undo.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "helper.h"
#include "plan-undo.h"
#include "util/options.h"
#include "util/units.h"
#include "util/util.h"

#define LOCK_TRIES 50 /* tries every 20 ms, as the kernel may close an agent's lock after its pipe */
#define MANAGER_TRIES 5 /* tries every 200 ms, for a busy bus */

int limit_undo_unit(struct unit_manager *manager, const struct limit_unit *unit)
{
        struct unit_now now;
        int err = unit_manager_read(manager, unit->unit, &now), quota_err = 0;

        if (err)
                return err == -ENOENT ? 0 : err;
        if (now.frozen)
                err = unit_manager_thaw(manager, unit->unit);
        if (now.quota_us != unit->quota_us)
                quota_err = unit_manager_set_quota(manager, unit->unit, unit->quota_us);
        err = err ? err : quota_err;
        return err == -ENOENT ? 0 : err;
}

static int undo_units(struct limit_state *state)
{
        struct unit_manager *manager = NULL;
        size_t kept = 0;
        int err = unit_manager_open(&manager), first = 0;

        if (err)
                return err;
        for (size_t i = 0; i < state->n_units; i++) {
                err = limit_undo_unit(manager, &state->units[i]);
                if (err) {
                        first = first ? first : err;
                        state->units[kept++] = state->units[i];
                }
        }
        state->n_units = kept;
        unit_manager_close(manager);
        return first;
}

int limit_undo_all(const struct log *log)
{
        _cleanup_free_ struct limit_state *state = calloc(1, sizeof(*state));
        _cleanup_free_ char *path = NULL;
        int err = state ? limit_state_path(LIMIT_STATE, &path) : -ENOMEM;

        if (!err)
                err = limit_state_read(path, state);
        if (err || (state->n_units == 0 && state->n_apps == 0))
                return err;
        for (int i = 0; state->n_units > 0 && i < MANAGER_TRIES; i++) {
                if (i > 0)
                        usleep(200000);
                err = undo_units(state);
        }
        if (state->n_units > 0)
                log_error(log, "%zu limits cannot be undone: %s; systemctl --user thaw %s does it", state->n_units,
                          strerror(-err), state->units[0].unit);
        state->n_apps = 0;
        return err ? err : limit_state_write(path, state);
}

static void wait_for_end(int fd)
{
        char byte;
        ssize_t n;

        do
                n = read(fd, &byte, 1);
        while (n > 0 || (n < 0 && errno == EINTR));
}

int limit_undo_main(const struct log *log)
{
        static const int ignored[] = { SIGTERM, SIGINT, SIGHUP };
        _cleanup_close_ int lock_fd = -EBUSY;
        int plan_err;

        prctl(PR_SET_NAME, "joulecast-focus"); /* started as /proc/self/exe, it is called "exe" */
        if (!isatty(STDIN_FILENO)) {
                for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
                        signal(ignored[i], SIG_IGN); /* the guard ends with the agent, not by a signal */
                wait_for_end(STDIN_FILENO);
        }
        for (int i = 0; lock_fd == -EBUSY && i < LOCK_TRIES; i++) {
                if (i > 0)
                        usleep(20000);
                lock_fd = limit_state_lock();
        }
        if (lock_fd == -EBUSY || lock_fd == -ENOENT)
                return CODE_OK; /* an agent runs and has undone them; or there is no login, and so no limits */
        if (lock_fd < 0) {
                log_error(log, "limits cannot be undone: %s", strerror(-lock_fd));
                return CODE_FAILED;
        }
        plan_err = plan_undo_all(log);
        return limit_undo_all(log) || plan_err ? CODE_FAILED : CODE_OK;
}

static int spawn(int stdin_fd, pid_t *ret)
{
        char *const arguments[] = { (char *)"joulecast-focus", (char *)"--restore", NULL };

        return helper_start("/proc/self/exe", arguments,
                            &(struct helper_options){ .stdin_fd = stdin_fd, .own_group = true }, ret);
}

int limit_guard_start(struct limit_guard *guard)
{
        _cleanup_close_ int read_fd = -1, write_fd = -1;
        int fds[2], err;

        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        read_fd = fds[0];
        write_fd = fds[1];
        err = spawn(read_fd, &guard->pid);
        if (!err)
                guard->fd = take_fd(&write_fd);
        return err;
}

void limit_guard_stop(struct limit_guard *guard)
{
        if (guard->fd < 0)
                return;
        close(guard->fd);
        guard->fd = -1;
}
