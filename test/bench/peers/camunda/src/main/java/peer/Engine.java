package peer;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** Camunda's engine with its REST interface and nothing else. */
@SpringBootApplication
public class Engine {
  public static void main(String[] args) {
    SpringApplication.run(Engine.class, args);
  }
}
