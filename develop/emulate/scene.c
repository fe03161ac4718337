/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "box.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

#include "answer/program.h"
#include "util/util.h"

static char stage_name[] = "joulecast-stage", display_word[] = "display", terminal_word[] = "terminal";

static _Noreturn void become_stage(const struct scene_plan *plan, int connection, int frames)
{
        char connection_word[16], frames_word[16], pixels[32];
        _cleanup_free_ char *script = plan->script ? strdup(plan->script) : NULL;
        char *argv[] = { stage_name,  connection_word,
                         frames_word, plan->terminal ? terminal_word : display_word,
                         pixels,      script,
                         NULL };

        prctl(PR_SET_PDEATHSIG, SIGTERM);
        snprintf(connection_word, sizeof(connection_word), "%d", connection);
        snprintf(frames_word, sizeof(frames_word), "%d", frames);
        snprintf(pixels, sizeof(pixels), "%s", plan->pixels);
        if (fcntl(connection, F_SETFD, 0) == 0 && fcntl(frames, F_SETFD, 0) == 0)
                program_exec("develop", stage_name, argv);
        (void)!write(connection, "?\n", 2);
        _exit(127);
}

/* One line. */
static int read_place(struct scene *scene)
{
        size_t length = 0;

        while (length < sizeof(scene->place)) {
                if (read(scene->connection, scene->place + length, 1) != 1)
                        return -EIO;
                if (scene->place[length] == '\n') {
                        scene->place[length] = '\0';
                        return strcmp(scene->place, "?") == 0 ? -ENOENT : 0;
                }
                length++;
        }
        return -EIO;
}

int scene_start(const struct scene_plan *plan, const struct log *log, struct scene *ret)
{
        struct scene scene = SCENE_NONE;
        int pair[2], err;

        scene.terminal = plan->terminal;
        scene.frames = memfd_create("frames", MFD_CLOEXEC);
        if (scene.frames < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
                err = -errno;
                closep(&scene.frames);
                return err;
        }
        scene.connection = pair[0];
        fflush(NULL);
        scene.pid = fork();
        if (scene.pid == 0)
                become_stage(plan, pair[1], scene.frames);
        close(pair[1]);
        err = scene.pid < 0 ? -errno : read_place(&scene);
        if (!err) {
                scene.process = (int)syscall(SYS_pidfd_open, scene.pid, 0);
                err = scene.process < 0 ? -errno : 0;
        }
        if (err == -ENOENT)
                log_error(log, "joulecast-stage, which plays --input and reads the screen, is not there; was "
                          "it built and installed?");
        else if (err)
                log_error(log, "the app has no screen or terminal to show itself in (%s)", strerror(-err));
        if (err)
                (void)scene_end(&scene);
        else
                *ret = scene;
        return err;
}

int scene_end(struct scene *scene)
{
        int status = 0;

        closep(&scene->connection);
        while (scene->pid > 0 && waitpid(scene->pid, &status, 0) < 0 && errno == EINTR)
                ;
        closep(&scene->process);
        closep(&scene->frames);
        *scene = SCENE_NONE;
        return status ? -ECANCELED : 0;
}

int scene_frames(const struct scene *scene, int64_t origin_ns, struct frame_record **ret, size_t *ret_n)
{
        struct frame_record *frames;
        struct stat stat;
        size_t n, got = 0;

        *ret = NULL;
        *ret_n = 0;
        if (scene->frames < 0 || fstat(scene->frames, &stat) < 0)
                return 0;
        n = (size_t)stat.st_size / sizeof(*frames);
        frames = calloc(n + 1, sizeof(*frames));
        if (!frames)
                return -ENOMEM;
        for (; got < n; got++) {
                if (pread(scene->frames, &frames[got], sizeof(*frames), (off_t)(got * sizeof(*frames))) !=
                    sizeof(*frames))
                        break;
                frames[got].time_ns = MAX(frames[got].time_ns - origin_ns, INT64_C(0));
        }
        *ret = frames;
        *ret_n = got;
        return 0;
}
