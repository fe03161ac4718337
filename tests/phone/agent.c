/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Inside the virtual phone: runs what the suite asks for, over a virtio port. It blocks, since a core of an
 * emulated phone is too dear to be polled with.
 *
 *   from the suite:  ID BYTES\n and that many bytes of shell script; BYTES 0: kill what ID started
 *   to the suite:    ID out BYTES\n and that many bytes of output; ID exit CODE\n
 *
 * Usage: agent PORT
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define JOBS_MAX 32
#define SCRIPT_MAX (1 << 20)

struct job {
        unsigned id;
        pid_t pid; /* 0: free */
        int output;
};

static struct job jobs[JOBS_MAX];

static void die(const char *what)
{
        fprintf(stderr, "agent: %s: %s\n", what, strerror(errno));
        exit(1);
}

static void write_all(int fd, const char *bytes, size_t size)
{
        while (size > 0) {
                ssize_t n = write(fd, bytes, size);

                if (n < 0 && errno != EINTR)
                        die("write to the port");
                if (n > 0) {
                        bytes += n;
                        size -= (size_t)n;
                }
        }
}

static char read_byte(int port)
{
        char byte;
        ssize_t n;

        /* Without a suite on the other end a port reads as ended, until there is one. */
        while ((n = read(port, &byte, 1)) != 1) {
                if (n < 0 && errno != EINTR)
                        die("read from the port");
                sleep(1);
        }
        return byte;
}

static void read_line(int port, char *line, size_t size)
{
        size_t n = 0;

        for (char byte; (byte = read_byte(port)) != '\n';)
                if (n + 1 < size)
                        line[n++] = byte;
        line[n] = '\0';
}

static struct job *job_find(unsigned id)
{
        for (size_t i = 0; i < JOBS_MAX; i++)
                if (jobs[i].pid && jobs[i].id == id)
                        return &jobs[i];
        return NULL;
}

static struct job *job_free(void)
{
        for (size_t i = 0; i < JOBS_MAX; i++)
                if (!jobs[i].pid)
                        return &jobs[i];
        errno = EAGAIN;
        die("jobs");
        return NULL;
}

static void job_start(int port, unsigned id, const char *script)
{
        struct job *job = job_free();
        int fds[2];

        if (pipe2(fds, O_CLOEXEC) < 0)
                die("pipe");
        job->id = id;
        job->output = fds[0];
        job->pid = fork();
        if (job->pid < 0)
                die("fork");
        if (job->pid > 0) {
                close(fds[1]);
                return;
        }
        setsid();
        dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
        dup2(fds[1], STDOUT_FILENO);
        dup2(fds[1], STDERR_FILENO);
        close(port);
        execl("/bin/sh", "sh", "-c", script, NULL);
        _exit(127);
}

static void handle_request(int port)
{
        static char script[SCRIPT_MAX + 1];
        struct job *job;
        char line[64];
        unsigned id;
        size_t size;

        read_line(port, line, sizeof(line));
        if (sscanf(line, "%u %zu", &id, &size) != 2 || size > SCRIPT_MAX) {
                fprintf(stderr, "agent: not a request: \"%s\"\n", line);
                exit(1);
        }
        for (size_t i = 0; i < size; i++)
                script[i] = read_byte(port);
        script[size] = '\0';
        job = size ? NULL : job_find(id);
        if (size > 0)
                job_start(port, id, script);
        else if (job)
                kill(-job->pid, SIGKILL);
}

/* Handles a job's output or end: a job ends with its shell, even if another process still holds its output. */
static void handle_output(int port, struct job *job)
{
        char bytes[4096], line[64];
        ssize_t n = read(job->output, bytes, sizeof(bytes));
        int status;

        if (n > 0) {
                write_all(port, line, (size_t)snprintf(line, sizeof(line), "%u out %zd\n", job->id, n));
                write_all(port, bytes, (size_t)n);
                return;
        }
        close(job->output);
        waitpid(job->pid, &status, 0);
        job->pid = 0;
        status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        write_all(port, line, (size_t)snprintf(line, sizeof(line), "%u exit %d\n", job->id, status));
}

static void serve(int port)
{
        struct pollfd polled[JOBS_MAX + 1] = { { .fd = port, .events = POLLIN } };

        for (size_t i = 0; i < JOBS_MAX; i++)
                polled[i + 1] = (struct pollfd){ .fd = jobs[i].pid ? jobs[i].output : -1, .events = POLLIN };
        if (poll(polled, JOBS_MAX + 1, -1) < 0 && errno != EINTR)
                die("poll");
        for (size_t i = 0; i < JOBS_MAX; i++)
                if (polled[i + 1].fd >= 0 && polled[i + 1].revents)
                        handle_output(port, &jobs[i]);
        if (polled[0].revents & POLLIN)
                handle_request(port);
        else if (polled[0].revents)
                sleep(1); /* the other end is not connected */
}

int main(int argc, char **argv)
{
        int port;

        if (argc != 2) {
                fprintf(stderr, "usage: agent PORT\n");
                return 2;
        }
        port = open(argv[1], O_RDWR | O_CLOEXEC);
        if (port < 0)
                die(argv[1]);
        write_all(port, "0 exit 0\n", 9);
        for (;;)
                serve(port);
}
