/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Replays messages of a real PipeWire, recorded while pw-play played, then paplay too, and each ended. */

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

#include "focus/pipewire.h"
#include "focus/pod.h"
#include "check.h"
#include "tree.h"
#include "util/local-socket.h"

#define PW_PLAY 37 /* pids in the recording */
#define PAPLAY 40
#define PULSE_SERVER 25

static void add_process(const char *dir, pid_t pid, const char *comm)
{
        char path[64], text[64];

        snprintf(path, sizeof(path), "proc/%d/comm", (int)pid);
        snprintf(text, sizeof(text), "%s\n", comm);
        check(tree_write(dir, path, text, strlen(text)));
        snprintf(path, sizeof(path), "proc/%d/status", (int)pid);
        snprintf(text, sizeof(text), "Name:\t%s\nTgid:\t%d\n", comm, (int)pid);
        check(tree_write(dir, path, text, strlen(text)));
}

/* Prints the pids, "37 40", and "+" for other players. */
static void print(const struct pipewire_sound *sound, char text[64])
{
        int length = snprintf(text, 64, "%s", sound->others ? "+" : "");

        for (size_t i = 0; i < sound->n; i++)
                length += snprintf(text + length, 64 - (size_t)length, "%s%d", length ? " " : "", (int)sound->pids[i]);
}

/* Sends the recording in pieces; @heard gets each change of the players: "37, 37 40, 40, ". */
static void play(const char *recording, size_t size, size_t piece, int root_fd, char heard[256])
{
        int fds[2];
        struct pipewire pipewire = { .stream = STREAM_CLOSED, .watch_fd = -1 };
        char last[64] = "", now[64], answers[4096];

        check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
        pipewire.stream.fd = fds[0];
        heard[0] = '\0';
        for (size_t at = 0; at < size; at += piece) {
                size_t length = size - at < piece ? size - at : piece;
                struct pipewire_sound sound;

                check_int(send(fds[1], recording + at, length, MSG_NOSIGNAL), (ssize_t)length);
                for (unsigned i = 0; i < 1 + length / 4096; i++)
                        check_int(pipewire_hear(&pipewire), 0);
                while (recv(fds[1], answers, sizeof(answers), MSG_DONTWAIT) > 0)
                        continue;
                pipewire_sound(&pipewire, root_fd, &sound);
                print(&sound, now);
                if (strcmp(now, last) != 0)
                        snprintf(heard + strlen(heard), 256 - strlen(heard), "%s, ", now);
                strcpy(last, now);
        }
        close(fds[1]);
        check_int(pipewire_hear(&pipewire), -ECONNRESET);
        pipewire_close(&pipewire);
}

static void hears(const char *path)
{
        char recording[65536], heard[256], dir[] = "/tmp/joulecast-pipewire-XXXXXX";
        int fd = open(path, O_RDONLY | O_CLOEXEC), root_fd;
        ssize_t size = read(fd, recording, sizeof(recording));

        check(size > 0 && mkdtemp(dir));
        close(fd);
        root_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        play(recording + 1, (size_t)size - 1, 61, root_fd, heard);
        check_text(heard, "+, , "); /* the players' processes are gone */
        add_process(dir, PULSE_SERVER, "pipewire-pulse");
        add_process(dir, PW_PLAY, "pw-play");
        add_process(dir, PAPLAY, "paplay");
        play(recording + 1, (size_t)size - 1, 61, root_fd, heard);
        check_text(heard, "37, 37 40, 40, , ");
        play(recording + 1, (size_t)size - 1, 40000, root_fd, heard);
        check_text(heard, "");
        close(root_fd);
        tree_remove(dir);
}

/* Written values are read back unchanged; values that are truncated or of another type are refused. */
static void values(void)
{
        struct pod_message message;
        struct pod all, in, dictionary;
        const char *key = NULL, *value = NULL;
        int32_t n = 0;

        pod_begin(&message);
        pod_add_int(&message, -7);
        pod_add_string(&message, "seven");
        pod_add_pair(&message, "key", "value");
        pod_end(&message, 5, 2, 9);
        check_int(message.length % 8, 0);
        all = (struct pod){ message.bytes + POD_MESSAGE_HEADER, message.length - POD_MESSAGE_HEADER };
        check(pod_struct(&all, &in) && !pod_string(&in, &value) && pod_int(&in, &n) && pod_string(&in, &value));
        check_int(n, -7);
        check_text(value, "seven");
        check(pod_struct(&in, &dictionary) && pod_int(&dictionary, &n) && pod_pair(&dictionary, &key, &value));
        check_text(key, "key");
        check_text(value, "value");
        check(!pod_pair(&dictionary, &key, &value) && !pod_skip(&in) && !pod_struct(&in, &dictionary));
        for (size_t cut = 1; cut < message.length - POD_MESSAGE_HEADER; cut++) {
                all = (struct pod){ message.bytes + POD_MESSAGE_HEADER, message.length - POD_MESSAGE_HEADER - cut };
                check(!pod_struct(&all, &in));
        }
}

/* A card comes and goes, and its id is not reused: our proxies do not grow without end. */
static void numbers_end(void)
{
        char said[4096];
        int fds[2], err = 0;
        struct pipewire pipewire = { .stream = STREAM_CLOSED, .watch_fd = -1 };
        unsigned times = 0;

        check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
        pipewire.stream.fd = fds[0];
        for (; !err && times < 10000; times++) {
                struct pod_message came, went;

                pod_begin(&came);
                pod_add_int(&came, 7);
                pod_add_int(&came, 0);
                pod_add_string(&came, "PipeWire:Interface:Node");
                pod_add_int(&came, 3);
                pod_add_pair(&came, "media.class", "Audio/Sink");
                pod_end(&came, 2, 0, 0);
                pod_begin(&went);
                pod_add_int(&went, 7);
                pod_end(&went, 2, 1, 0);
                check_int(send(fds[1], came.bytes, came.length, MSG_NOSIGNAL), (ssize_t)came.length);
                check_int(send(fds[1], went.bytes, went.length, MSG_NOSIGNAL), (ssize_t)went.length);
                err = pipewire_hear(&pipewire);
                while (recv(fds[1], said, sizeof(said), MSG_DONTWAIT) > 0)
                        continue;
        }
        check_int(err, -EPROTO);
        check_int(times, 4097);
        check(pipewire.n <= 1);
        close(fds[1]);
        pipewire_close(&pipewire);
}

/* The daemon's socket may come later, and does not listen at once. */
static void connects(void)
{
        char dir[] = "/tmp/joulecast-pipewire-XXXXXX", path[64];
        struct pipewire pipewire;
        struct pipewire_sound sound;
        struct log log = { 0 };
        int fd;

        check(mkdtemp(dir) && setenv("XDG_RUNTIME_DIR", dir, 1) == 0);
        pipewire_open(&pipewire, &log);
        check_int(pipewire_deadline(&pipewire), 0);
        pipewire_connect(&pipewire, NS_PER_S);
        check(pipewire_deadline(&pipewire) == UINT64_MAX && pipewire_fd(&pipewire) >= 0);
        check(tree_write(dir, "pipewire-0", "", 0));
        pipewire_dispatch(&pipewire, 2 * NS_PER_S);
        check_int(pipewire_deadline(&pipewire), 2 * NS_PER_S);
        pipewire_connect(&pipewire, 2 * NS_PER_S);
        check_int(pipewire_deadline(&pipewire), 3 * NS_PER_S);
        snprintf(path, sizeof(path), "%s/pipewire-0", dir);
        check(unlink(path) == 0);
        fd = local_socket_listen(path, SOCK_STREAM, 1);
        check(fd >= 0);
        pipewire_connect(&pipewire, 3 * NS_PER_S);
        check(pipewire_deadline(&pipewire) == UINT64_MAX && pipewire.stream.fd >= 0);
        close(fd); /* resets a connection that was not accepted */
        pipewire_dispatch(&pipewire, 4 * NS_PER_S);
        check_int(pipewire_deadline(&pipewire), 4 * NS_PER_S + 2 * NS_PER_S);
        pipewire_sound(&pipewire, -1, &sound);
        check(sound.n == 0 && !sound.others);
        for (unsigned s = 5; s < 100; s++)
                pipewire_connect(&pipewire, s * NS_PER_S);
        check(pipewire_deadline(&pipewire) == UINT64_MAX);
        pipewire_close(&pipewire);
        tree_remove(dir);
}

int main(int argc, char **argv)
{
        values();
        if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) /* as the recording is: PipeWire writes the machine's order */
                hears(argv[1]);
        numbers_end();
        connects();
        return argc == 2 ? check_result() : 2;
}
