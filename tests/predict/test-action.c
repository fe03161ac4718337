/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The commands of advice, for real processes and for programs in a folder of their own. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "action.h"
#include "api/joulecast-private.h"
#include "check.h"
#include "util/util.h"

static char folder[] = "/tmp/joulecast-test-XXXXXX";

static void make_program(const char *name, bool executable)
{
        char path[128];
        int fd;

        snprintf(path, sizeof(path), "%s/%s", folder, name);
        fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, executable ? 0755 : 0644);
        check(fd >= 0);
        close(fd);
}

static void remove_program(const char *name)
{
        char path[128];

        snprintf(path, sizeof(path), "%s/%s", folder, name);
        unlink(path);
}

static int find(const char *app, enum advice_kind kind, char **command)
{
        _cleanup_(user_apps_freep) struct user_apps *apps = NULL;
        struct advice advice = { .kind = kind, .brightness_percent = 35 };

        snprintf(advice.app, sizeof(advice.app), "%s", app);
        check_int(user_apps_read(&apps), 0);
        return action_find(apps, &advice, command);
}

static void check_command(const char *app, enum advice_kind kind, const char *want)
{
        char *command = NULL;

        check_int(find(app, kind, &command), 0);
        check_text(command, want);
        free(command);
}

/* A program of that name, which waits for its input to end. It is detached, as a child can belong to our app. */
static pid_t start(const char *name, int *input)
{
        char path[128];
        int pipes[2], told[2];
        pid_t parent, ret = -1;

        snprintf(path, sizeof(path), "%s/%s", folder, name);
        check_int(symlink("/bin/cat", path), 0);
        check_int(pipe2(pipes, O_CLOEXEC), 0);
        check_int(pipe2(told, O_CLOEXEC), 0);
        parent = fork();
        if (parent == 0) {
                setsid();
                ret = fork();
                if (ret == 0) {
                        dup2(pipes[0], STDIN_FILENO);
                        execl(path, path, NULL);
                        _exit(127);
                }
                _exit(write(told[1], &ret, sizeof(ret)) != sizeof(ret));
        }
        close(pipes[0]);
        close(told[1]);
        check(read(told[0], &ret, sizeof(ret)) == sizeof(ret));
        close(told[0]);
        waitpid(parent, NULL, 0);
        *input = pipes[1];
        return ret;
}

static void processes(void)
{
        char app[JOULECAST_APP_MAX] = "", own[JOULECAST_APP_MAX], want[64], *command = NULL;
        int input = -1;
        pid_t pid = start("jc-sleeper", &input);

        check_int(joulecast_app_of_pid(0, own, sizeof(own)), 0);
        /* Until it has become that program. */
        for (int tries = 0; tries < 1000 && strcmp(app, "jc-sleeper") != 0; tries++) {
                usleep(10 * 1000);
                check_int(joulecast_app_of_pid(pid, app, sizeof(app)), 0);
        }
        check_text(app, "jc-sleeper");
        snprintf(want, sizeof(want), "kill %d", (int)pid);
        check_command("jc-sleeper", ADVICE_CLOSE, want);
        check_int(find("chess", ADVICE_CLOSE, &command), -ENOENT); /* it does not run */
        check_int(find(own, ADVICE_CLOSE, &command), -ENOENT);     /* this program runs in it */
        close(input);
        for (int tries = 0; tries < 1000 && kill(pid, 0) == 0; tries++)
                usleep(10 * 1000);
        check_int(find("jc-sleeper", ADVICE_CLOSE, &command), -ENOENT);
        remove_program("jc-sleeper");
}

static void programs(void)
{
        setenv("PATH", folder, 1);
        make_program("rfkill", true);
        check_command("", ADVICE_WIFI, "rfkill block wifi");
        make_program("nmcli", true);
        make_program("brightnessctl", true);
        check_command("", ADVICE_WIFI, "nmcli radio wifi off");
        check_command("", ADVICE_CELLULAR, "nmcli radio wwan off");
        check_command("", ADVICE_BRIGHTNESS, "brightnessctl set 35%");
        remove_program("nmcli");
        remove_program("brightnessctl");
        make_program("nmcli", false); /* not executable */
        check_command("", ADVICE_WIFI, "rfkill block wifi");
        remove_program("nmcli");
        remove_program("rfkill");
}

int main(void)
{
        check(mkdtemp(folder) != NULL);
        processes();
        programs();
        check_int(rmdir(folder), 0);
        return check_result();
}
