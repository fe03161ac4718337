/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The load: every fragment of a texture computes a chain of multiplications and additions, without memory
 * access. One second of it is one second of a busy GPU at any clock.
 */

#include <GLES2/gl2.h>
#include <errno.h>
#include <string.h>

#include "gpu-load.h"
#include "util/util.h"

#define SIDE 512 /* width and height of the texture, pixels */

static const char vertex_source[] = "attribute vec2 corner;\n"
                                    "void main() { gl_Position = vec4(corner, 0.0, 1.0); }\n";

/* The logistic map with a chaotic parameter: it stays between 0 and 1, and no compiler can simplify it. */
static const char fragment_source[] =
        "precision highp float;\n"
        "uniform float seed;\n"
        "void main() {\n"
        "        vec4 x = vec4(gl_FragCoord.xy, gl_FragCoord.yx) / 512.0;\n"
        "        x = fract(x + vec4(seed, 0.3, 0.5, 0.7));\n"
        "        for (int i = 0; i < 128; i++)\n"
        "                x = 3.9 * x * (1.0 - x);\n"
        "        gl_FragColor = vec4(0.25) + 0.5 * x;\n"
        "}\n";

static GLint seed_place;

static GLuint compile(GLenum kind, const char *source)
{
        GLuint shader = glCreateShader(kind);
        GLint good = 0;

        glShaderSource(shader, 1, &source, NULL);
        glCompileShader(shader);
        glGetShaderiv(shader, GL_COMPILE_STATUS, &good);
        return good ? shader : 0;
}

static int use_program(void)
{
        GLuint vertex = compile(GL_VERTEX_SHADER, vertex_source);
        GLuint fragment = compile(GL_FRAGMENT_SHADER, fragment_source);
        GLuint program = glCreateProgram();
        GLint good = 0;

        if (!vertex || !fragment)
                return -ENOTSUP;
        glAttachShader(program, vertex);
        glAttachShader(program, fragment);
        glBindAttribLocation(program, 0, "corner");
        glLinkProgram(program);
        glGetProgramiv(program, GL_LINK_STATUS, &good);
        if (!good)
                return -ENOTSUP;
        glUseProgram(program);
        seed_place = glGetUniformLocation(program, "seed");
        return 0;
}

static int use_texture(void)
{
        GLuint texture, framebuffer;

        glGenTextures(1, &texture);
        glBindTexture(GL_TEXTURE_2D, texture);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, SIDE, SIDE, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
        glGenFramebuffers(1, &framebuffer);
        glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
        glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
        glViewport(0, 0, SIDE, SIDE);
        return glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE ? 0 : -ENOTSUP;
}

static void use_corners(void)
{
        static const GLfloat corners[] = { -1, -1, 3, -1, -1, 3 }; /* one triangle over the whole texture */
        GLuint buffer;

        glGenBuffers(1, &buffer);
        glBindBuffer(GL_ARRAY_BUFFER, buffer);
        glBufferData(GL_ARRAY_BUFFER, sizeof(corners), corners, GL_STATIC_DRAW);
        glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
        glEnableVertexAttribArray(0);
}

/* If the shader ran, each channel is between a quarter and three quarters of white. */
static bool was_drawn(void)
{
        unsigned char pixel[4] = { 0 };

        glReadPixels(SIDE / 3, SIDE / 3, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
        for (size_t i = 0; i < ARRAY_SIZE(pixel); i++)
                if (pixel[i] < 60 || pixel[i] > 195)
                        return false;
        return true;
}

int gpu_draw_open(void)
{
        int err = use_program();

        if (!err)
                err = use_texture();
        if (err)
                return err;
        use_corners();
        glClearColor(0, 0, 0, 0);
        glClear(GL_COLOR_BUFFER_BIT);
        if (was_drawn())
                return -EIO; /* any error is reported like this */
        gpu_draw(1);
        err = gpu_draw_finish();
        return err ? err : was_drawn() ? 0 : -EIO;
}

/* A different seed each time, so that nothing is cached. */
void gpu_draw(unsigned times)
{
        static unsigned seed;

        for (unsigned i = 0; i < times; i++) {
                glUniform1f(seed_place, (GLfloat)(++seed % 997) / 997);
                glDrawArrays(GL_TRIANGLES, 0, 3);
        }
}

int gpu_draw_finish(void)
{
        glFinish();
        return glGetError() == GL_NO_ERROR ? 0 : -EIO;
}

void gpu_renderer(char *buf, size_t size)
{
        const char *name = (const char *)glGetString(GL_RENDERER);

        util_printable(name ? name : "", buf, size);
}

bool gpu_is_software(const char *renderer)
{
        static const char *const names[] = { "llvmpipe",    "softpipe", "swrast", "Software Rasterizer",
                                             "SwiftShader", "lavapipe" };

        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                if (strcasestr(renderer, names[i]))
                        return true;
        return !renderer[0];
}
